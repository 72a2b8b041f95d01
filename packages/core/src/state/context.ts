import type { Read } from '../json.ts';
import { compact, DocumentReader, readFilled, readString } from '../json.ts';
import type { ResponseFormat } from './llm-config.ts';
import { readResponseFormat } from './llm-config.ts';
import { MessageStore, readMessageStore } from './message-store.ts';
import { Metadata, readMetadata } from './metadata.ts';

type AgentContextFields = Pick<AgentContext, 'store' | 'systemPrompt' | 'metadata' | 'responseFormat'>;

/** What an agent knows between its executions: its messages, its standing instruction, facts of the application. */
export class AgentContext {
  readonly store: MessageStore;
  readonly systemPrompt: string | undefined;
  readonly metadata: Metadata;
  readonly responseFormat: ResponseFormat | undefined;

  static readonly empty: AgentContext = new AgentContext({
    store: MessageStore.empty,
    systemPrompt: undefined,
    metadata: Metadata.empty,
    responseFormat: undefined,
  });

  private constructor(fields: AgentContextFields) {
    this.store = fields.store;
    this.systemPrompt = fields.systemPrompt;
    this.metadata = fields.metadata;
    this.responseFormat = fields.responseFormat;
    Object.freeze(this);
  }

  /** The same with some parts replaced; `this` when nothing differs. */
  with(changes: Partial<AgentContextFields>): AgentContext {
    for (const key in changes) {
      const name = key as keyof AgentContextFields;
      if (changes[name] !== this[name]) {
        const { store, systemPrompt, metadata, responseFormat } = this;
        return new AgentContext({ store, systemPrompt, metadata, responseFormat, ...changes });
      }
    }
    return this;
  }

  toJSON(): object {
    return compact({
      systemPrompt: this.systemPrompt,
      metadata: this.metadata === Metadata.empty ? undefined : this.metadata.values,
      responseFormat: this.responseFormat,
      sections: this.store.toJSON(),
    });
  }

  /** @throws StateFormatError when the document does not fit. */
  static fromJSON(json: unknown): AgentContext {
    return DocumentReader.read(json, AgentContext.read);
  }

  /** @internal */
  static readonly read: Read<AgentContext> = (reader, value) => {
    const members = reader.members(value, NAMES);
    return new AgentContext({
      systemPrompt: reader.optional(members, 'systemPrompt', readString),
      metadata: reader.optional(members, 'metadata', readFilledMetadata) ?? Metadata.empty,
      responseFormat: reader.optional(members, 'responseFormat', readResponseFormat),
      store: reader.required(members, 'sections', readMessageStore),
    });
  };
}

const readFilledMetadata = readFilled(readMetadata);
const NAMES = new Set(['systemPrompt', 'metadata', 'responseFormat', 'sections']);
