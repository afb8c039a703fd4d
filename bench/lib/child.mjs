/* One suite measures one subject in this fresh process, and answers its parent. */

const [suite, subject, scale] = process.argv.slice(2);
const { measure } = await import(suite);
const result = await measure(subject, Number(scale));
process.send(result, () => process.exit(0));
