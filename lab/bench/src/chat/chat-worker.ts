import { measureChat, type ChatOptions } from './measure-chat.ts';

// The parent wrote the argument.
const costs = await measureChat(JSON.parse(process.argv[2] ?? '') as ChatOptions);
process.send?.(costs, () => process.exit());
