import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { PromptBuilder } from './prompt-builder.ts';

/** The number of models of registries whose builders are kept. The builder of another model is created again. */
const MAX_BUILDERS = 100;

/**
 * The prompt builders of a driver. Registries create a new object for a model at each call, so models with the same
 * provider and id share a builder: otherwise each step would convert the whole conversation.
 */
export class PromptBuilders {
  private readonly create: (model: LanguageModelV4) => PromptBuilder;
  private readonly byModel = new WeakMap<LanguageModelV4, PromptBuilder>();
  private readonly byName = new Map<string, PromptBuilder>();

  constructor(create: (model: LanguageModelV4) => PromptBuilder) {
    this.create = create;
  }

  /** Returns the builder of a model. */
  of(model: LanguageModelV4): PromptBuilder {
    let builder = this.byModel.get(model);
    if (builder !== undefined) return builder;
    const name = `${model.provider}\n${model.modelId}`;
    builder = this.byName.get(name) ?? this.create(model);
    this.byModel.set(model, builder);
    this.keep(name, builder);
    return builder;
  }

  /** Keeps a builder as the newest. Drops the oldest when there are too many. */
  private keep(name: string, builder: PromptBuilder): void {
    this.byName.delete(name);
    this.byName.set(name, builder);
    for (const oldest of this.byName.keys()) {
      if (this.byName.size <= MAX_BUILDERS) return;
      this.byName.delete(oldest);
    }
  }
}
