import { measurePublish, type PublishOptions } from './measure-publish.ts';

// The parent wrote the argument.
const costs = await measurePublish(JSON.parse(process.argv[2] ?? '') as PublishOptions);
process.send?.(costs, () => process.exit());
