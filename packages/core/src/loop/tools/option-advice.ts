/** Advice for options that a function does not have, by the name of the option. */
type Advice = Readonly<Record<string, string>>;

/** Returns advice by name, from a table whose keys are lists of names with the same advice. */
function adviceFor(table: Advice): Advice {
  const rows = Object.entries(table);
  return Object.fromEntries(rows.flatMap(([names, text]) => names.split(', ').map((name) => [name, text])));
}

const LIMITS = 'maxSteps, maxTokens, maxSeconds, maxCost';
const BUDGET = 'set the limits in "budget", as in budget: { maxSteps: 5 }';
const CHANGES =
  'pass a hook that changes the request of a step, as in hooks: [{ beforeInference: (request) => ({ request: { ...request, toolChoice: "none" } }) }]';

export const LOOP_ADVICE = adviceFor({
  'model, provider': 'pass a driver, as in driver: aiSdkDriver({ model })',
  maxRetries: 'set it in the driver, as in driver: aiSdkDriver({ model, maxRetries: 2 })',
  [`${LIMITS}, deadline`]: BUDGET,
  stopWhen: `${BUDGET}; pass other conditions as hooks, as in hooks: [finishReason("length")]`,
  'system, systemPrompt, instructions':
    'set it in the state, as in AgentState.empty().withSystemPrompt("Be brief.")',
  'prompt, messages': 'add them to the state, as in loop.run(AgentState.empty().withUserMessage("Hello"))',
  'llmConfig, temperature, maxOutputTokens, providerOptions':
    'set it in the state, as in state.withLlmConfig({ temperature: 0 })',
  'responseFormat, output, experimental_output': 'pass a hook, as in hooks: [structuredOutput(schema)]',
  'onEvent, onStepFinish, onFinish':
    'pass listeners, as in listeners: [eventListener("step-completed", listener)]',
  onError: 'pass a hook, as in hooks: [{ onError: (error) => report(error) }]',
  'activeTools, prepareStep': CHANGES,
  'telemetry, experimental_telemetry':
    'pass a listener that records events, as in listeners: [(event) => record(event)]',
  'context, runContext, experimental_context': 'pass it to each run, as in loop.run(state, { runContext })',
  'signal, abortSignal': 'pass it to the run, as in loop.run(state, { signal })',
  name: 'set it in a definition, as in AgentBuilder.of({ driver }).build({ name: "assistant" })',
  store: 'pass it to a runtime, as in new SessionRuntime({ store, agents: { assistant: loop } })',
});

export const RUN_ADVICE = adviceFor({
  abortSignal: 'use "signal"',
  'context, experimental_context': 'use "runContext"',
  listeners: 'pass one listener, as in onEvent: listener',
  [LIMITS]: BUDGET,
  tools: 'pass them to the loop, as in createAgentLoop({ driver, tools })',
});

export const BUILDER_ADVICE: Advice = {
  tools: 'add them with withTools(search, read)',
  hooks: 'add them with withHooks(audit)',
  listeners: 'add them with withListeners(listener)',
};

const TIMEOUT = 'set it in seconds, as in timeoutSeconds: 30';

export const TOOL_ADVICE = adviceFor({
  'parameters, schema, args, input':
    'pass the schema of the arguments, as in inputSchema: z.object({ city: z.string() })',
  'handler, run, func, call': 'pass the function, as in execute: ({ a, b }) => a + b',
  'timeout, timeoutMs': TIMEOUT,
  'maxRetries, retries': 'set the number of attempts, as in retry: { maxAttempts: 3 }',
  requiresApproval: 'use "needsApproval"',
  readOnly: 'set effect: "readOnly"',
  idempotent: 'set effect: "idempotent"',
  'context, runContext, needsRunContext': 'create the tool with toolFor, as in toolFor<Shop>()(init)',
  isResumable: 'add it to the tool, as in { ...tool(init), isResumable: true }',
});

const WAITS = 'has no execute, so its calls wait for an answer';

/** Advice for options of `tool()` that a tool without `execute` cannot have. */
export const QUESTION_ADVICE: Advice = {
  execute:
    'has the value undefined for execute: pass a function, or omit it to let calls wait for an answer.',
  timeoutSeconds: `${WAITS}: set answerTimeoutSeconds instead of timeoutSeconds.`,
  retry: `${WAITS}: remove retry, because the loop runs no attempts.`,
  effect: `${WAITS}: remove effect, because the loop runs no code that a crash could repeat.`,
  reconcile: `${WAITS}: remove reconcile, because a call without its answer keeps waiting.`,
};

/** Advice for options of `tool()` that a tool with `execute` cannot have. */
export const EXECUTE_ADVICE: Advice = {
  outputSchema:
    'has both execute and outputSchema: outputSchema checks the answers to a tool without execute.',
  answerTimeoutSeconds:
    'has both execute and answerTimeoutSeconds: set timeoutSeconds, or omit execute to let calls wait for an answer.',
};

export const SUBAGENT_ADVICE: Advice = {
  agent: 'pass its loop, as in loop: researchLoop',
  context: 'use "runContext", a function from the run context of the calling agent',
  driver: 'pass it to its loop, as in loop: createAgentLoop({ driver })',
  tools: 'pass them to its loop, as in loop: createAgentLoop({ driver, tools })',
  model: 'set llmConfig: { model: "openai:gpt-5" }',
  instructions: 'use "systemPrompt"',
  maxSteps: 'set the limits of a call in "budget", as in budget: { maxSteps: 5 }',
  execute: 'pass its loop, as in loop: researchLoop; use "toResult" to return another result',
  timeout: TIMEOUT,
};
