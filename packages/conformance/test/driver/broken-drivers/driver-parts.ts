import type { Message } from '@holdfast/core';
import {
  InferenceResponse,
  List,
  type AssistantPart,
  type Driver,
  type InferenceDelta,
  type InferenceRequest,
  type InferenceResponseInit,
  type MessagePart,
  type ToolOutput,
} from '@holdfast/core/driver';

/** The parts of the harness that a defect uses. */
export interface World {
  /** The keys and header values that the driver sends. */
  readonly secrets: readonly string[];
}

/** Puts a defect around any driver. */
export type Defect = (sound: Driver, world: World) => Driver;

type Infer = (sound: Driver['infer'], ...args: Parameters<Driver['infer']>) => ReturnType<Driver['infer']>;

/** A driver with another `infer`. */
export const inferring =
  (infer: Infer): Defect =>
  (sound) => ({ ...sound, infer: (...args) => infer((...given) => sound.infer(...given), ...args) });

/** A driver with changed responses. */
export const answering = (change: (response: InferenceResponse) => Partial<InferenceResponseInit>): Defect =>
  inferring(async (infer, ...args) => {
    const response = InferenceResponse.of(await infer(...args));
    return { ...response, ...change(response) };
  });

/** A driver with changed parts of responses. */
export const parts = (change: (part: AssistantPart) => readonly AssistantPart[]): Defect =>
  answering(({ content }) => ({ content: content.flatMap(change) }));

/** A driver with changed requests. */
export const asking = (change: (request: InferenceRequest) => Partial<InferenceRequest>): Defect =>
  inferring((infer, request, options) => infer({ ...request, ...change(request) }, options));

/** A driver with a changed conversation. */
export const conversing = (change: (messages: readonly Message[]) => readonly Message[]): Defect =>
  asking(({ messages }) => ({ messages: List.from(change(messages.toArray())) }));

/** A driver with changed parts of the conversation. A message without parts is dropped. */
export const saying = (change: (part: MessagePart, message: Message) => readonly MessagePart[]): Defect =>
  conversing((messages) =>
    messages.flatMap((message) => {
      const parts: readonly MessagePart[] = message.content;
      const content = parts.flatMap((part) => change(part, message));
      return content.length === 0 ? [] : [{ ...message, content } as Message];
    }),
  );

/** A driver with changed tool results in the conversation. */
export const telling = (change: (output: ToolOutput) => ToolOutput): Defect =>
  saying((part) => (part.type === 'tool-result' ? [{ ...part, output: change(part.output) }] : [part]));

/** A driver with changed deltas. */
export const hearing = (change: (delta: InferenceDelta) => readonly InferenceDelta[]): Defect =>
  inferring((infer, request, { signal, onDelta }) =>
    infer(request, { signal, onDelta: onDelta && ((delta) => change(delta).forEach(onDelta)) }),
  );

/** A driver that handles errors. `again` repeats the call. */
export const failing = (
  handle: (
    error: Error & { [name: string]: unknown },
    call: {
      readonly again: () => Promise<InferenceResponseInit>;
      readonly signal: AbortSignal;
      readonly world: World;
    },
  ) => Promise<InferenceResponseInit> | InferenceResponseInit,
): Defect => {
  return (sound, world) => ({
    ...sound,
    async infer(request, options) {
      const again = async (): Promise<InferenceResponseInit> => sound.infer(request, options);
      try {
        return await again();
      } catch (error) {
        return handle(error as Error & { [name: string]: unknown }, { again, signal: options.signal, world });
      }
    },
  });
};

/** A driver whose errors have other members. */
export const throwing = (change: (error: Error, world: World) => object): Defect =>
  failing((error, { world }) => {
    throw Object.assign(error, change(error, world));
  });
