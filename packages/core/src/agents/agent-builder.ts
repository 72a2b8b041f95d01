import { checkArgument, mustBe, optionsCheck } from '../arguments.ts';
import { describeValue, invalidArgument } from '../errors.ts';
import { compact, isSameJson, type JsonObject } from '../json.ts';
import { agentDefinition, type AgentDefinition } from '../state/agent-definition.ts';
import { ExecutionBudget } from '../state/execution/budget.ts';
import { agentOf, missingNames, notBuildable, type Agent } from './agent.ts';
import {
  createAgentLoop,
  LOOP_OPTIONS,
  LOOP_SETTINGS,
  type AgentLoop,
  type AgentLoopOptions,
} from '../loop/agent-loop.ts';
import { requireDriver } from '../loop/inference/driver.ts';
import type { AgentEventListener } from '../loop/steps/events.ts';
import type { Hook } from '../loop/hooks/hook.ts';
import { requireHooks } from '../loop/hooks/hook-chain.ts';
import { BUILDER_ADVICE, LOOP_ADVICE } from '../loop/tools/option-advice.ts';
import type { Tool } from '../loop/tools/tool-types.ts';
import { toolsByName } from '../loop/tools/tool.ts';

/**
 * Adds an ability to an agent, such as a memory: a function that receives a builder and returns it with tools, hooks or
 * settings added. It reads the builder's current options in `builder.options`. `Needed` is the type of the run context
 * that the added tools and hooks need.
 * @example
 * const memory: Capability = (builder) => builder.withTools(remember, recall).withHooks(showMemories);
 */
export type Capability<Needed = unknown> = <Context>(
  builder: AgentBuilder<Context>,
) => AgentBuilder<Context & Needed>;

/**
 * Creates a capability from the options in a definition. The options come from a file without checks: check them, and
 * throw an error if they are invalid.
 * @example const memory: CapabilityFactory = (options) => memoryOf(memoryOptions.parse(options));
 */
export type CapabilityFactory<Needed = unknown> = (options: JsonObject) => Capability<Needed>;

/** The options of a loop with a single value; the other options are lists. */
export type AgentSettings = Omit<AgentLoopOptions, 'tools' | 'hooks' | 'listeners'>;

const checkOptions = optionsCheck<Partial<AgentLoopOptions>>('AgentBuilder.of', LOOP_OPTIONS, LOOP_ADVICE);
const checkSettings = optionsCheck<Partial<AgentSettings>>('withSettings', LOOP_SETTINGS, {
  ...LOOP_ADVICE,
  ...BUILDER_ADVICE,
});

/**
 * Holds the options of `createAgentLoop` as an immutable value, from which any number of loops and agents can be built.
 * Each `with…` method and `use` returns a changed copy, or `this` when nothing changes. `Context` is the type of the run
 * context that the tools, hooks and capabilities together need.
 *
 * @example
 * const builder = AgentBuilder.of({ driver, prices })
 *   .withTools(search, read)
 *   .use(summaries({ maxTokens: 50_000 }))
 *   .withCapabilityFactories({ memory: (options) => memoryOf(options) });
 * const writer = builder.build({ name: 'writer', tools: ['search'], budget: { maxSteps: 5 } });
 * const runtime = new SessionRuntime({ store, agents: ({ definition }) => builder.build(definition) });
 */
export class AgentBuilder<in Context = unknown> {
  /** The options of `createAgentLoop` for the loops of this builder. */
  readonly options: Readonly<Partial<AgentLoopOptions<Context>>>;
  /** The factories of the capabilities that definitions name. */
  readonly capabilityFactories: Readonly<Record<string, CapabilityFactory<Context>>>;

  private constructor(
    options: AgentBuilder<Context>['options'],
    capabilityFactories: AgentBuilder<Context>['capabilityFactories'],
  ) {
    this.options = options;
    this.capabilityFactories = capabilityFactories;
    Object.freeze(this);
  }

  /**
   * Creates a builder with these options. @throws RangeError or TypeError `ARGUMENT_INVALID` as `createAgentLoop` does.
   */
  static of<Context = unknown>(options?: Partial<AgentLoopOptions<Context>>): AgentBuilder<Context>;
  static of(options: Partial<AgentLoopOptions> = {}): AgentBuilder {
    const { tools = [], hooks = [], listeners = [], ...settings } = checkOptions(options);
    return new AgentBuilder(Object.freeze({}), Object.freeze({}))
      .withSettings(settings)
      .withTools(...tools)
      .withHooks(...hooks)
      .withListeners(...listeners);
  }

  // Changes

  /**
   * Returns a builder with changed settings. A budget replaces the whole earlier budget, with all its limits.
   * `undefined` resets a setting to its default; the driver has no default.
   * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown setting or an invalid value.
   */
  withSettings(settings: Partial<AgentSettings>): AgentBuilder<Context> {
    const { budget } = checkSettings(settings);
    if ('driver' in settings) requireDriver(settings.driver);
    if (budget === undefined) return this.withOptions(settings);
    const known = this.options.budget;
    const limits = ExecutionBudget.of(budget);
    if (known && isSameJson(limits, ExecutionBudget.of(known)))
      return this.withOptions({ ...settings, budget: known });
    const newBudget = budget === limits ? limits : Object.freeze({ ...budget });
    return this.withOptions({ ...settings, budget: newBudget });
  }

  /** Returns a builder with additional tools. @throws RangeError `ARGUMENT_INVALID` for a duplicate name. */
  withTools<Needed = unknown>(...tools: Tool<unknown, unknown, Needed>[]): AgentBuilder<Context & Needed>;
  withTools(...tools: Tool<unknown, unknown, Context>[]): AgentBuilder<Context> {
    const all = withAdded(this.options.tools, tools);
    toolsByName(all ?? []);
    return this.withOptions({ tools: all });
  }

  /**
   * Returns a builder with additional hooks, including guards and structured outputs. Hooks with the same priority run
   * in the order in which they were added, by the application or by capabilities.
   * @throws TypeError `ARGUMENT_INVALID` for a value that is not a hook.
   */
  withHooks<Needed = unknown>(...hooks: Hook<Needed>[]): AgentBuilder<Context & Needed>;
  withHooks(...hooks: Hook<Context>[]): AgentBuilder<Context> {
    requireHooks(hooks);
    return this.withOptions({ hooks: withAdded(this.options.hooks, hooks) });
  }

  /**
   * Returns a builder with additional listeners.
   * @throws TypeError `ARGUMENT_INVALID` for a value that is not a function.
   */
  withListeners(...listeners: AgentEventListener[]): AgentBuilder<Context> {
    for (const listener of listeners) checkArgument('A listener', listener, mustBe.function);
    return this.withOptions({ listeners: withAdded(this.options.listeners, listeners) });
  }

  /**
   * Returns a builder with additional capability factories, by the names that definitions use. Only `build` uses the
   * factories.
   * @throws RangeError `ARGUMENT_INVALID` for a duplicate name; TypeError `ARGUMENT_INVALID` for a value that is not a
   * function.
   */
  withCapabilityFactories<Needed = unknown>(
    factories: Readonly<Record<string, CapabilityFactory<Needed>>>,
  ): AgentBuilder<Context & Needed>;
  withCapabilityFactories(
    factories: Readonly<Record<string, CapabilityFactory<Context>>>,
  ): AgentBuilder<Context> {
    checkArgument('factories', factories, mustBe.object);
    for (const [name, factory] of Object.entries(factories)) {
      checkArgument(`The factory of capability "${name}"`, factory, mustBe.function);
      if (Object.hasOwn(this.capabilityFactories, name))
        throw invalidArgument(`There are two capabilities named "${name}".`);
    }
    if (Object.keys(factories).length === 0) return this;
    return new AgentBuilder(this.options, Object.freeze({ ...this.capabilityFactories, ...factories }));
  }

  /**
   * Returns a builder with a capability, which receives everything that was added before it.
   * @throws TypeError `ARGUMENT_INVALID` for a value that is not a capability; any error that the capability throws.
   */
  use<Needed = unknown>(capability: Capability<Needed>): AgentBuilder<Context & Needed> {
    const changed: unknown = checkArgument('A capability', capability, mustBe.function)(this);
    if (changed instanceof AgentBuilder) return changed;
    const found = describeValue(changed);
    throw invalidArgument(`A capability must return an AgentBuilder, found ${found}.`, TypeError);
  }

  // Results

  /** Creates a loop from the options. @throws as `createAgentLoop` does, also without a driver. */
  toLoop(): AgentLoop<Context> {
    return createAgentLoop(this.options as AgentLoopOptions<Context>);
  }

  /**
   * Builds the agent of a definition. The capabilities of the definition are added after the builder's own options, in
   * the order in which the definition names them. The agent then has the tools that `tools` names, or all tools when
   * `tools` is absent, without those that `toolsDeny` names; both apply to the tools of capabilities too, and
   * `toolsDeny` may name unknown tools. The budget of the definition replaces the builder's budget: the builder's
   * limits do not apply, and without `maxSteps` an execution may take 20 steps.
   * @throws HoldfastError `AGENT_NOT_BUILDABLE` for unknown names, a capability that fails, `maxCost` without prices,
   * and a `toolChoice` of a tool that the agent may not use; `CONTEXT_INVALID` for an invalid definition; other errors
   * as `toLoop` does.
   */
  build(definition: AgentDefinition): Agent<Context> {
    const checked = agentDefinition(definition);
    return agentOf(checked, this.withCapabilitiesOf(checked).options);
  }

  private withCapabilitiesOf({ name: agent, capabilities = {} }: AgentDefinition): AgentBuilder<Context> {
    const { capabilityFactories: factories } = this;
    const missing = Object.keys(capabilities).filter((name) => !Object.hasOwn(factories, name));
    if (missing.length > 0) throw missingNames(agent, 'capabilities', missing, Object.keys(factories));
    return Object.entries(capabilities).reduce<AgentBuilder<Context>>((builder, [name, options]) => {
      try {
        return builder.use((factories[name] as CapabilityFactory)(options));
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message.replace(/\.$/, '') : describeValue(cause);
        const data = { capabilities: [name] };
        throw notBuildable(agent, `cannot use the capability "${name}": ${reason}`, { data, cause });
      }
    }, this);
  }

  private withOptions(changes: { readonly [K in keyof AgentLoopOptions]?: unknown }): AgentBuilder<Context> {
    const names = Object.keys(changes) as (keyof AgentLoopOptions)[];
    if (names.every((name) => changes[name] === this.options[name])) return this;
    const options = compact({ ...this.options, ...changes }) as Partial<AgentLoopOptions<Context>>;
    return new AgentBuilder(options, this.capabilityFactories);
  }
}

/** Joins the lists; returns the first list when nothing is added. */
function withAdded<T>(list: readonly T[] | undefined, added: readonly T[]): readonly T[] | undefined {
  return added.length === 0 ? list : Object.freeze([...(list ?? []), ...added]);
}
