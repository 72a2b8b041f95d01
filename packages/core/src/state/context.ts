import type { Read } from '../json.ts';
import { compact, DocumentReader, readJsonObject, readString } from '../json.ts';
import type { ResponseFormat } from './inference.ts';
import { readResponseFormat } from './inference.ts';
import { MessageStore, readMessageStore } from './message-store.ts';
import { Metadata } from './metadata.ts';

interface AgentContextFields {
  readonly store: MessageStore;
  readonly systemPrompt: string | undefined;
  readonly metadata: Metadata;
  readonly responseFormat: ResponseFormat | undefined;
}

/** What an agent knows between its executions: its messages, its standing instruction, facts of the application. */
export interface AgentContext extends AgentContextFields {}
export class AgentContext {
  static readonly empty: AgentContext = new AgentContext({
    store: MessageStore.empty,
    systemPrompt: undefined,
    metadata: Metadata.empty,
    responseFormat: undefined,
  });

  private constructor(fields: AgentContextFields) {
    Object.freeze(Object.assign(this, fields));
  }

  /** The same with some parts replaced; `this` when nothing differs. */
  with(changes: Partial<AgentContextFields>): AgentContext {
    for (const key in changes) {
      const name = key as keyof AgentContextFields;
      if (changes[name] !== this[name]) return new AgentContext({ ...this, ...changes });
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
      metadata: Metadata.from(reader.filled(members, 'metadata', readJsonObject) ?? Metadata.empty),
      responseFormat: reader.optional(members, 'responseFormat', readResponseFormat),
      store: reader.required(members, 'sections', readMessageStore),
    });
  };
}

const NAMES = new Set(['systemPrompt', 'metadata', 'responseFormat', 'sections']);
