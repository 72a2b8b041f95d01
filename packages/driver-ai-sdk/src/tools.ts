export { fromAiSdkTools } from './tools/from-ai-sdk-tools.ts';
export type { FromAiSdkToolsOptions } from './tools/from-ai-sdk-tools.ts';
export { toAiSdkTools } from './tools/to-ai-sdk-tools.ts';
export type { AiSdkTool, AiSdkToolSet } from './tools/ai-sdk-tool.ts';
