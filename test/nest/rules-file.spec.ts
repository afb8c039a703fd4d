import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RulesFile } from '../../src/nest/rules-file.js';
import { FakeClock } from '../../src/testing/fake-clock.js';

/** The module as its importers see it, so that what is spied on is what they call. */
const files: typeof import('node:fs/promises') = jest.requireActual('node:fs/promises');

const POLL = 10_000;
const SETTLE = 200;

/** A fake clock that says when somebody lies down: then a look is over. */
class WatchedClock extends FakeClock {
  private arrived: ((millis: number) => void)[] = [];
  readonly slept: unknown[] = [];

  nextSleep(): Promise<number> {
    return new Promise((resolve) => this.arrived.push(resolve));
  }

  override sleep(...[millis, signal, options]: Parameters<FakeClock['sleep']>): Promise<void> {
    const sleep = super.sleep(millis, signal);
    this.slept.push(options);
    for (const tell of this.arrived.splice(0)) tell(millis);
    return sleep;
  }
}

const folder = mkdtempSync(join(tmpdir(), 'rules-file-'));
let count = 0;

const open: RulesFile[] = [];

/** A watched file; `atStart` is what it says when the watching begins. */
function watch(atStart: string | undefined, pollMillis = POLL, clock = new WatchedClock()) {
  const path = join(folder, `rules-${++count}.properties`);
  if (atStart !== undefined) writeFileSync(path, atStart);
  const told: string[] = [];
  const tell = {
    changed: (text: string): void | Promise<void> => void told.push(`changed ${text}`),
    unreadable: (error: Error): void | Promise<void> =>
      void told.push(`unreadable ${(error as NodeJS.ErrnoException).code ?? error.message}`),
  };
  const file = new RulesFile({ path, pollMillis }, clock, {
    changed: (text) => tell.changed(text),
    unreadable: (error) => tell.unreadable(error),
  });
  open.push(file);
  file.start(atStart);
  const write = (text: string) => writeFileSync(path, text);
  /** Lets so much time pass and the look that comes then come to an end; how long it sleeps next. */
  const pass = async (millis: number): Promise<number> => {
    const next = clock.nextSleep();
    clock.advance(millis);
    return next;
  };
  /** A whole look, with as many readings as it takes. */
  const look = async (): Promise<void> => {
    for (let next = await pass(pollMillis); next < pollMillis; ) next = await pass(next);
  };
  return { path, clock, told, tell, file, write, pass, look };
}

/** Lets all run that is due, what was read from the disk included. */
async function turns(): Promise<void> {
  for (let i = 0; i < 20; i++) {
    await files.stat(folder);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const rejected: unknown[] = [];
const noteRejection = (reason: unknown) => rejected.push(reason);

beforeAll(() => process.on('unhandledRejection', noteRejection));

afterEach(async () => {
  for (const file of open.splice(0)) file.close();
  jest.restoreAllMocks();
  await turns();
  expect(rejected).toEqual([]);
});

afterAll(() => {
  process.off('unhandledRejection', noteRejection);
  rmSync(folder, { recursive: true, force: true });
});

describe('a watched file of rules', () => {
  it('is told of when it says something else, after it was read the same twice', async () => {
    const { told, write, pass } = watch('a');
    write('b');
    expect(await pass(POLL)).toBe(SETTLE);
    expect(told).toEqual([]);
    expect(await pass(SETTLE)).toBe(POLL);
    expect(told).toEqual(['changed b']);
  });

  it('is not looked at before its time', async () => {
    const { told, write, pass, clock } = watch('a');
    const stat = jest.spyOn(files, 'stat');
    write('b');
    clock.advance(POLL - 1);
    expect(stat).not.toHaveBeenCalled();
    expect(await pass(1)).toBe(SETTLE);
    clock.advance(SETTLE - 1);
    expect(stat).toHaveBeenCalledTimes(1);
    expect(await pass(1)).toBe(POLL);
    expect(told).toEqual(['changed b']);
  });

  it('is read again as soon as it is polled, where that is sooner than 200 ms', async () => {
    const { told, write, pass } = watch('a', 50);
    write('b');
    expect(await pass(50)).toBe(50);
    expect(told).toEqual([]);
    expect(await pass(50)).toBe(50);
    expect(told).toEqual(['changed b']);
  });

  it('keeps no process alive', async () => {
    const { clock, write, look } = watch('a');
    write('b');
    await look();
    expect(clock.slept).toEqual(Array(3).fill({ background: true }));
  });

  it('is not told of while it says the same, touched or written anew', async () => {
    const { path, told, write, pass } = watch('a');
    utimesSync(path, 1, 2);
    expect(await pass(POLL)).toBe(POLL);
    write('a');
    expect(await pass(POLL)).toBe(POLL);
    expect(told).toEqual([]);
  });

  it('is told of when it changes and keeps its size and its times', async () => {
    const { path, told, write, look } = watch('a');
    utimesSync(path, 1, 2);
    await look();
    write('b');
    utimesSync(path, 1, 2);
    await look();
    expect(told).toEqual(['changed b']);
  });

  it('is told of once, whatever was made of it; going back is a change', async () => {
    const { told, write, look } = watch('a');
    write('nonsense');
    await look();
    await look();
    await look();
    expect(told).toEqual(['changed nonsense']);
    write('a');
    await look();
    write('nonsense');
    await look();
    expect(told).toEqual(['changed nonsense', 'changed a', 'changed nonsense']);
  });

  it('that went back before the second reading has not changed', async () => {
    const { told, write, pass } = watch('a');
    write('b');
    expect(await pass(POLL)).toBe(SETTLE);
    write('a');
    expect(await pass(SETTLE)).toBe(POLL);
    expect(told).toEqual([]);
  });

  it('is told of in whole when it was met half written, however long that takes', async () => {
    const { path, told, pass } = watch('a');
    writeFileSync(path, 'one\n');
    expect(await pass(POLL)).toBe(SETTLE);
    for (const line of ['two\n', 'three\n', 'four\n']) {
      appendFileSync(path, line);
      expect(await pass(SETTLE)).toBe(SETTLE);
      expect(told).toEqual([]);
    }
    expect(await pass(SETTLE)).toBe(POLL);
    expect(told).toEqual(['changed one\ntwo\nthree\nfour\n']);
  });

  it('is not told of as empty when it is emptied first and then written', async () => {
    const { path, told, write, pass } = watch('a');
    truncateSync(path, 0);
    expect(await pass(POLL)).toBe(SETTLE);
    write('b');
    expect(await pass(SETTLE)).toBe(SETTLE);
    expect(await pass(SETTLE)).toBe(POLL);
    expect(told).toEqual(['changed b']);
  });

  it('is told of as empty when it stays so', async () => {
    const { path, told, look } = watch('a');
    truncateSync(path, 0);
    await look();
    expect(told).toEqual(['changed ']);
  });

  it('is followed through links that are swapped, as those of a mounted ConfigMap', async () => {
    const mount = mkdtempSync(join(folder, 'mount-'));
    const put = (version: string) => {
      mkdirSync(join(mount, version));
      writeFileSync(join(mount, version, 'rules'), version);
      symlinkSync(version, join(mount, 'new'));
      renameSync(join(mount, 'new'), join(mount, '..data'));
    };
    put('one');
    const { path, told, look } = watch(undefined);
    symlinkSync(join(mount, '..data', 'rules'), path);
    await look();
    put('two');
    rmSync(join(mount, 'one'), { recursive: true });
    await look();
    expect(told).toEqual(['changed one', 'changed two']);
  });

  it('is told of without the mark of its byte order, which changes nothing', async () => {
    const { told, write, pass, look } = watch('\uFEFFa');
    expect(await pass(POLL)).toBe(POLL);
    write('a');
    expect(await pass(POLL)).toBe(POLL);
    write('\uFEFFb é');
    await look();
    expect(told).toEqual(['changed b é']);
  });
});

describe('a file of rules that cannot be read', () => {
  it('is told of once; what it said stands when it comes back', async () => {
    const { path, told, write, pass, look } = watch('a');
    rmSync(path);
    for (let i = 0; i < 3; i++) expect(await pass(POLL)).toBe(POLL);
    expect(told).toEqual(['unreadable ENOENT']);
    write('a');
    expect(await pass(POLL)).toBe(POLL);
    expect(told).toEqual(['unreadable ENOENT']);
    rmSync(path);
    await look();
    write('b');
    await look();
    expect(told).toEqual(['unreadable ENOENT', 'unreadable ENOENT', 'changed b']);
  });

  it('is told of when it vanishes between the two readings', async () => {
    const { path, told, write, pass, look } = watch('a');
    write('b');
    expect(await pass(POLL)).toBe(SETTLE);
    rmSync(path);
    expect(await pass(SETTLE)).toBe(POLL);
    expect(told).toEqual(['unreadable ENOENT']);
    write('b');
    await look();
    expect(told).toEqual(['unreadable ENOENT', 'changed b']);
  });

  it('is known not to be there when it was not at start, and told of when it comes', async () => {
    const { told, write, look } = watch(undefined);
    await look();
    expect(told).toEqual([]);
    write('a');
    await look();
    expect(told).toEqual(['changed a']);
  });

  it.each([
    ['a folder', (path: string) => mkdirSync(path), 'is no file: rules are read from a plain one'],
    ['links in a circle', (path: string) => symlinkSync(path, path), 'ELOOP'],
    [
      'more than 1 MiB',
      (path: string) => writeFileSync(path, Buffer.alloc(2 ** 20 + 1, 'a')),
      'has 1048577 bytes: a file of rules has at most 1048576',
    ],
  ])('is one that has become %s', async (_what, make, problem) => {
    const { path, told, look } = watch('a');
    rmSync(path);
    make(path);
    await look();
    await look();
    expect(told).toEqual([expect.stringContaining(problem)]);
    rmSync(path, { recursive: true });
    writeFileSync(path, 'b');
    await look();
    expect(told.slice(1)).toEqual(['changed b']);
  });

  it('is not one of 1 MiB', async () => {
    const { told, write, look } = watch('a');
    write('b'.repeat(2 ** 20));
    await look();
    expect(told).toEqual([`changed ${'b'.repeat(2 ** 20)}`]);
  });

  it('is one that grows beyond 1 MiB while it is read', async () => {
    const { told, look } = watch('a');
    jest.spyOn(files, 'readFile').mockResolvedValue(Buffer.alloc(2 ** 20 + 1));
    await look();
    expect(told).toEqual([expect.stringContaining('has 1048577 bytes')]);
  });
});

describe('a slow reading of a file of rules', () => {
  /** Holds the readings back until `release`. */
  function hold(): { release: () => void; readings: () => number } {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const real = files.readFile;
    const spy = jest.spyOn(files, 'readFile').mockImplementation((async (path: string) => {
      await held;
      return real(path);
    }) as never);
    return { release, readings: () => spy.mock.calls.length };
  }

  it('is waited for, however often its time comes again', async () => {
    const { told, write, clock, look } = watch('a');
    const { release, readings } = hold();
    write('b');
    const over = clock.nextSleep();
    for (let i = 0; i < 5; i++) {
      clock.advance(POLL);
      await turns();
    }
    expect(readings()).toBe(1);
    release();
    expect(await over).toBe(SETTLE);
    clock.advance(SETTLE);
    await look();
    expect(told).toEqual(['changed b']);
  });

  it.each(['says something else', 'is gone'])(
    'tells nothing when it was closed meanwhile and the file %s',
    async (what) => {
      const { path, told, write, clock, file, pass } = watch('a');
      write('b');
      expect(await pass(POLL)).toBe(SETTLE);
      const { release, readings } = hold();
      clock.advance(SETTLE);
      await turns();
      expect(readings()).toBe(1);
      file.close();
      if (what === 'is gone') rmSync(path);
      release();
      await turns();
      clock.advance(10 * POLL);
      await turns();
      expect(readings()).toBe(1);
      expect(told).toEqual([]);
    },
  );
});

describe('a file of rules that is closed', () => {
  it('is looked at no more', async () => {
    const { told, write, clock, file } = watch('a');
    const stat = jest.spyOn(files, 'stat');
    write('b');
    file.close();
    file.close();
    clock.advance(POLL);
    await new Promise((resolve) => setImmediate(resolve));
    expect(stat).not.toHaveBeenCalled();
    expect(told).toEqual([]);
  });

  it('is not told of, when a reading of the disk is under way', async () => {
    const { told, write, clock, file, pass } = watch('a');
    write('b');
    expect(await pass(POLL)).toBe(SETTLE);
    clock.advance(SETTLE);
    await undefined;
    file.close();
    await turns();
    expect(told).toEqual([]);
  });

  it('is not told of, when the clock does not mind', async () => {
    class Deaf extends WatchedClock {
      override sleep(millis: number): Promise<void> {
        return super.sleep(millis);
      }
    }
    const { told, write, clock, file, pass } = watch('a', POLL, new Deaf());
    write('b');
    expect(await pass(POLL)).toBe(SETTLE);
    file.close();
    clock.advance(SETTLE);
    await turns();
    expect(told).toEqual([]);
  });

  it('may be closed by the listener, and before it begins', async () => {
    const { told, tell, write, clock, file, pass } = watch('a');
    const { changed } = tell;
    tell.changed = (text) => {
      file.close();
      return changed(text);
    };
    write('b');
    expect(await pass(POLL)).toBe(SETTLE);
    expect(await pass(SETTLE)).toBe(POLL);
    write('c');
    clock.advance(10 * POLL);
    await turns();
    expect(told).toEqual(['changed b']);
    file.start('x');
    const other = new RulesFile({ path: 'none', pollMillis: 1 }, clock, tell);
    other.close();
    other.start('x');
    clock.advance(10 * POLL);
    await turns();
    expect(told).toEqual(['changed b']);
  });
});

describe('what fails around a file of rules', () => {
  it.each([
    [
      'throws',
      () => {
        throw new Error('no');
      },
      'no',
    ],
    [
      'rejects',
      async () => {
        throw new Error('no');
      },
      'no',
    ],
    [
      'throws text',
      () => {
        throw 'text';
      },
      'text',
    ],
    [
      'throws nothing',
      () => {
        throw undefined;
      },
      'undefined',
    ],
    [
      'throws what has no text',
      () => {
        throw Object.create(null);
      },
      '{}',
    ],
  ])('is a warning of the process when a listener %s, and it goes on', async (_how, fail, said) => {
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
    const { path, told, tell, write, look } = watch('a');
    const { changed } = tell;
    tell.changed = fail;
    tell.unreadable = fail;
    write('b');
    await look();
    rmSync(path);
    await look();
    expect(warn.mock.calls.map(([text]) => text)).toEqual(
      Array(2).fill(`A listener of ${JSON.stringify(path)} failed: ${said}`),
    );
    tell.changed = changed;
    write('b');
    await look();
    write('c');
    await look();
    expect(told).toEqual(['changed c']);
  });

  it('is a listener that takes its time: the next look waits for it', async () => {
    const { told, tell, write, clock, pass } = watch('a');
    let done: () => void = () => undefined;
    tell.changed = (text) => {
      told.push(`changed ${text}`);
      return new Promise((resolve) => {
        done = resolve;
      });
    };
    write('b');
    expect(await pass(POLL)).toBe(SETTLE);
    const over = clock.nextSleep();
    clock.advance(SETTLE);
    await turns();
    write('c');
    clock.advance(10 * POLL);
    await turns();
    expect(told).toEqual(['changed b']);
    done();
    expect(await over).toBe(POLL);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('late');
      },
    ],
    ['rejects', () => Promise.reject(new Error('late'))],
  ])('is told of when the clock %s, for the last time', async (_how, fail) => {
    const { path, told, write, clock, pass } = watch('a');
    write('b');
    expect(await pass(POLL)).toBe(SETTLE);
    const sleep = jest.spyOn(clock, 'sleep').mockImplementation(fail);
    clock.advance(SETTLE);
    await turns();
    const problem = `${JSON.stringify(path)} is looked at no more, its clock failed: late`;
    expect(told).toEqual(['changed b', `unreadable ${problem}`]);
    expect(sleep).toHaveBeenCalledTimes(1);
  });
});
