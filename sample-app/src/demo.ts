import { walkthrough } from './walkthrough.js';

await walkthrough((line) => console.log(line));
