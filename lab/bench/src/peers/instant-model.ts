import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import type { Job } from './job.ts';

const STOP: LanguageModelV4FinishReason = { unified: 'stop', raw: 'stop' };
const TOOL_CALLS: LanguageModelV4FinishReason = { unified: 'tool-calls', raw: 'tool-calls' };

const USAGE = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
} as const;

/**
 * A model of the AI SDK that does the job. It keeps nothing, unlike the mock of the SDK, which records every prompt.
 * @param pieces the deltas of a streamed response
 */
export function instantModel(job: Job, pieces: readonly string[] = []): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'instant',
    supportedUrls: {},
    async doGenerate({ prompt }) {
      const waiting = job.wait();
      if (waiting) await waiting;
      const { calls, text } = job.turn(lastCallId(prompt));
      const content = calls.map(({ id, name, args }): LanguageModelV4Content => {
        return { type: 'tool-call', toolCallId: id, toolName: name, input: JSON.stringify(args) };
      });
      if (calls.length === 0) content.push({ type: 'text', text });
      return { content, finishReason: calls.length > 0 ? TOOL_CALLS : STOP, usage: USAGE, warnings: [] };
    },
    async doStream() {
      return { stream: textStream(pieces) };
    },
  };
}

function lastCallId(prompt: LanguageModelV4CallOptions['prompt']): string | undefined {
  const last = prompt.at(-1);
  const part = last?.role === 'tool' ? last.content.at(-1) : undefined;
  return part?.type === 'tool-result' ? part.toolCallId : undefined;
}

/** One part at each pull, as a provider's stream gives them. */
function textStream(pieces: readonly string[]): ReadableStream<LanguageModelV4StreamPart> {
  let position = -1;
  return new ReadableStream({
    pull(controller) {
      const delta = pieces[position];
      if (position === -1) {
        controller.enqueue({ type: 'stream-start', warnings: [] });
        controller.enqueue({ type: 'text-start', id: '0' });
      } else if (delta !== undefined) {
        controller.enqueue({ type: 'text-delta', id: '0', delta });
      } else {
        controller.enqueue({ type: 'text-end', id: '0' });
        controller.enqueue({ type: 'finish', finishReason: STOP, usage: USAGE });
        controller.close();
      }
      position++;
    },
  });
}
