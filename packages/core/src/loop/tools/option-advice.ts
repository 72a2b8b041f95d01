/** Advice for options that a function does not have, by the name of the option. */
type Advice = Readonly<Record<string, string>>;

const DRIVER = 'pass a driver, as in driver: aiSdkDriver({ model })';
const BUDGET = 'set the limits in "budget", as in budget: { maxSteps: 5 }';
const PROMPT = 'set it in the state, as in AgentState.empty().withSystemPrompt("Be brief.")';
const MESSAGES = 'add them to the state, as in loop.run(AgentState.empty().withUserMessage("Hello"))';
const SETTINGS = 'set it in the state, as in state.withLlmConfig({ temperature: 0 })';
const OUTPUT = 'pass a hook, as in hooks: [structuredOutput(schema)]';
const LISTENERS = 'pass listeners, as in listeners: [eventListener("step-completed", listener)]';
const CHANGES =
  'pass a hook that changes the request of a step, as in hooks: [{ beforeInference: (request) => ({ request: { ...request, toolChoice: "none" } }) }]';
const TELEMETRY = 'pass a listener that records events, as in listeners: [(event) => record(event)]';
const CONTEXT = 'pass it to each run, as in loop.run(state, { runContext })';
const SIGNAL = 'pass it to the run, as in loop.run(state, { signal })';

export const LOOP_ADVICE: Advice = {
  model: DRIVER,
  provider: DRIVER,
  maxRetries: 'set it in the driver, as in driver: aiSdkDriver({ model, maxRetries: 2 })',
  maxSteps: BUDGET,
  maxTokens: BUDGET,
  maxSeconds: BUDGET,
  maxCost: BUDGET,
  deadline: BUDGET,
  stopWhen: `${BUDGET}; pass other conditions as hooks, as in hooks: [finishReason("length")]`,
  system: PROMPT,
  systemPrompt: PROMPT,
  instructions: PROMPT,
  prompt: MESSAGES,
  messages: MESSAGES,
  llmConfig: SETTINGS,
  temperature: SETTINGS,
  maxOutputTokens: SETTINGS,
  responseFormat: OUTPUT,
  output: OUTPUT,
  onEvent: LISTENERS,
  onStepFinish: LISTENERS,
  onFinish: LISTENERS,
  onError: 'pass a hook, as in hooks: [{ onError: (error) => report(error) }]',
  activeTools: CHANGES,
  prepareStep: CHANGES,
  experimental_telemetry: TELEMETRY,
  telemetry: TELEMETRY,
  experimental_output: OUTPUT,
  context: CONTEXT,
  runContext: CONTEXT,
  experimental_context: CONTEXT,
  providerOptions: SETTINGS,
  signal: SIGNAL,
  abortSignal: SIGNAL,
  name: 'set it in a definition, as in AgentBuilder.of({ driver }).build({ name: "assistant" })',
  store: 'pass it to a runtime, as in new SessionRuntime({ store, agents: { assistant: loop } })',
};

export const RUN_ADVICE: Advice = {
  abortSignal: 'use "signal"',
  context: 'use "runContext"',
  experimental_context: 'use "runContext"',
  listeners: 'pass one listener, as in onEvent: listener',
  maxSteps: BUDGET,
  maxTokens: BUDGET,
  maxSeconds: BUDGET,
  maxCost: BUDGET,
  tools: 'pass them to the loop, as in createAgentLoop({ driver, tools })',
};

export const BUILDER_ADVICE: Advice = {
  tools: 'add them with withTools(search, read)',
  hooks: 'add them with withHooks(audit)',
  listeners: 'add them with withListeners(listener)',
};

const ARGUMENTS = 'pass the schema of the arguments, as in inputSchema: z.object({ city: z.string() })';
const EXECUTE = 'pass the function, as in execute: ({ a, b }) => a + b';
const RUN_CONTEXT = 'create the tool with toolFor, as in toolFor<Shop>()(init)';
const TIMEOUT = 'set it in seconds, as in timeoutSeconds: 30';

export const TOOL_ADVICE: Advice = {
  parameters: ARGUMENTS,
  schema: ARGUMENTS,
  args: ARGUMENTS,
  input: ARGUMENTS,
  handler: EXECUTE,
  run: EXECUTE,
  func: EXECUTE,
  call: EXECUTE,
  timeout: TIMEOUT,
  timeoutMs: TIMEOUT,
  maxRetries: 'set the number of attempts, as in retry: { maxAttempts: 3 }',
  retries: 'set the number of attempts, as in retry: { maxAttempts: 3 }',
  requiresApproval: 'use "needsApproval"',
  readOnly: 'set effect: "readOnly"',
  idempotent: 'set effect: "idempotent"',
  context: RUN_CONTEXT,
  runContext: RUN_CONTEXT,
  needsRunContext: RUN_CONTEXT,
  isResumable: 'add it to the tool, as in { ...tool(init), isResumable: true }',
};

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
