import { Test } from '@nestjs/testing';
import { RateLimitConfigError, RateLimitModule, RateLimitService, RuleBook } from 'nestjs-doorman';

async function compiled(limits: object) {
  const imports = [RateLimitModule.forRoot(limits)];
  const module = await Test.createTestingModule({ imports }).compile();
  module.useLogger(false);
  return module;
}

describe('nothing faulty means no limit', () => {
  it('refuses to decide where a faulty application was compiled and never started', async () => {
    const module = await compiled({ rules: { default: 'fixed-window,0,10' } });
    const service = module.get(RateLimitService);
    await expect(service.check('alice', '/x')).rejects.toThrow(RateLimitConfigError);
    await expect(service.peek('alice', '/x')).rejects.toThrow(RateLimitConfigError);
  });

  it('refuses a second inline rule of one name that is another rule, and keeps the first', async () => {
    const service = (await (await compiled({})).init()).get(RateLimitService);
    const first = { policy: 'fixed-window,5,1d,name=z' } as const;
    expect((await service.check('alice', 'x', first)).remaining).toBe(4);
    const second = service.check('alice', 'x', { policy: 'fixed-window,50,1d,name=z' });
    await expect(second).rejects.toMatchObject({ code: 'NAME_CONFLICT' });
    expect((await service.check('alice', 'x', first)).remaining).toBe(3);
  });

  it.each(['constructor', 'toString', '__proto__x'])(
    'tells the unknown option %s',
    async (name) => {
      const module = await compiled({ [name]: 1 });
      await expect(module.init()).rejects.toMatchObject({ code: 'OPTION_UNKNOWN' });
    },
  );

  it('refuses a policy name with spaces around it, which nobody could use', () => {
    const make = () => RuleBook.of({ policy: { ' search ': 'fixed-window,1,1' } });
    expect(make).toThrow(RateLimitConfigError);
  });

  it('takes no cost but a whole number, to peek as well', async () => {
    const service = (await (await compiled({})).init()).get(RateLimitService);
    const cost = null as unknown as number;
    await expect(service.check('alice', 'x', { cost })).rejects.toThrow(RangeError);
    await expect(service.peek('alice', 'x', { cost })).rejects.toThrow(RangeError);
  });
});
