import { NestFactory } from '@nestjs/core';
import { createAdapter } from './adapter.js';
import { AppModule } from './app.module.js';

async function main(): Promise<void> {
  const adapter = process.env['ADAPTER'] ?? 'express';
  const app = await NestFactory.create(AppModule, createAdapter(adapter));
  app.enableShutdownHooks();
  await app.listen(portOf(process.env['PORT'] ?? '3000'), '127.0.0.1');
  const url = await app.getUrl();
  console.log(`
The shop is open at ${url} (${adapter}). Try:

  curl -i ${url}/orders -X POST -H "Authorization: Bearer alice"     # the sixth at once is refused
  curl -i ${url}/orders -X POST -H "Authorization: Bearer vip-1"     # eight at once for this one
  curl -i ${url}/login -X POST -d name=alice -d password=secret      # the third within 10 s is refused
`);
}

function portOf(text: string): number {
  const port = Number(text);
  if (!(Number.isInteger(port) && port >= 0 && port <= 65535)) {
    throw new Error(`PORT is a number from 0 to 65535, got "${text}"`);
  }
  return port;
}

await main();
