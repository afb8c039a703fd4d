import { spawnSync } from 'node:child_process';

const runs = (command: string) => spawnSync(command, ['--version']).status === 0;
const vendor = ['redis', 'valkey'].find((name) => runs(`${name}-server`) && runs(`${name}-cli`));

/** The server on this machine and the client beside it; undefined where they are not both there. */
export const redisBinary = vendor && `${vendor}-server`;
export const redisCli = vendor && `${vendor}-cli`;

/** `describe`, or a loud skip where no server can be started. */
export const describeWithRedis: typeof describe | typeof describe.skip = redisBinary
  ? describe
  : describe.skip;

/** Jest tells no test of its own end; the kernel does, so that no server outlives a run cut short. */
export const TIED_TO_US = runs('setpriv') ? ['setpriv', '--pdeathsig', 'KILL'] : [];
