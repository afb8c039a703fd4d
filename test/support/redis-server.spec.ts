import { describeWithRedis, RedisServer } from './redis-server.js';

describeWithRedis('the Redis server of the tests', () => {
  it('starts on a port of its own, answers, and stops', async () => {
    const server = await RedisServer.start();
    await expect(server.send('PING')).resolves.toBe('+PONG');
    await server.stop();
    await expect(server.send('PING')).rejects.toThrow();
  });
});
