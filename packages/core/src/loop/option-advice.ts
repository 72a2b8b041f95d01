/** What to write instead of an option that a function does not have, by its name. */
type Advice = Readonly<Record<string, string>>;

const DRIVER = 'give a driver, as in driver: aiSdkDriver({ model })';
const BUDGET = 'limits of a run are in "budget", as in budget: { maxSteps: 5 }';
const PROMPT = 'the state has it, as in AgentState.empty().withSystemPrompt("Be brief.")';
const MESSAGES = 'run a state that has them, as in loop.run(AgentState.empty().withUserMessage("Hello"))';
const SETTINGS = 'the state has it, as in state.withLlmConfig({ temperature: 0 })';
const OUTPUT = 'give a hook, as in hooks: [structuredOutput(schema)]';
const LISTENERS = 'give listeners, as in listeners: [eventListener("step-completed", listener)]';
const CHANGES =
  'give a hook that changes the request of a step, as in hooks: [{ beforeInference: (request) => ({ request: { ...request, toolChoice: "none" } }) }]';
const TELEMETRY = 'give a listener that records events, as in listeners: [(event) => record(event)]';
const SIGNAL = 'give it to the run, as in loop.run(state, { signal })';

export const LOOP_ADVICE: Advice = {
  model: DRIVER,
  provider: DRIVER,
  maxRetries: 'the driver retries, as in driver: aiSdkDriver({ model, maxRetries: 2 })',
  maxSteps: BUDGET,
  maxTokens: BUDGET,
  maxSeconds: BUDGET,
  maxCost: BUDGET,
  deadline: BUDGET,
  stopWhen: `${BUDGET}; other conditions are hooks, as in hooks: [finishReason("length")]`,
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
  onError: 'give a hook, as in hooks: [{ onError: (error) => report(error) }]',
  activeTools: CHANGES,
  prepareStep: CHANGES,
  experimental_telemetry: TELEMETRY,
  telemetry: TELEMETRY,
  experimental_output: OUTPUT,
  providerOptions: SETTINGS,
  signal: SIGNAL,
  abortSignal: SIGNAL,
  name: 'a definition has it, as in AgentBuilder.of({ driver }).build({ name: "assistant" })',
  store: 'a runtime has it, as in new SessionRuntime({ store, agents: { assistant: loop } })',
};

export const RUN_ADVICE: Advice = {
  abortSignal: 'write "signal"',
  listeners: 'a run has one listener, as in onEvent: listener',
  maxSteps: BUDGET,
  maxTokens: BUDGET,
  maxSeconds: BUDGET,
  maxCost: BUDGET,
  tools: 'the loop has them, as in createAgentLoop({ driver, tools })',
};

export const BUILDER_ADVICE: Advice = {
  tools: 'add them with withTools(search, read)',
  hooks: 'add them with withHooks(audit)',
  listeners: 'add them with withListeners(listener)',
};

const ARGUMENTS = 'give the schema of the arguments, as in inputSchema: z.object({ city: z.string() })';
const EXECUTE = 'give the function, as in execute: ({ a, b }) => a + b';
const TIMEOUT = 'give seconds, as in timeoutSeconds: 30';

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
  maxRetries: 'give tries, as in retry: { maxAttempts: 3 }',
  retries: 'give tries, as in retry: { maxAttempts: 3 }',
  requiresApproval: 'write "needsApproval"',
  readOnly: 'write effect: "readOnly"',
  idempotent: 'write effect: "idempotent"',
  isResumable: 'add it to what tool() returns, as in { ...tool(init), isResumable: true }',
};

export const SUBAGENT_ADVICE: Advice = {
  agent: 'give its loop, as in loop: researchLoop',
  driver: 'its loop has it, as in loop: createAgentLoop({ driver })',
  tools: 'its loop has them, as in loop: createAgentLoop({ driver, tools })',
  model: 'write llmConfig: { model: "openai:gpt-5" }',
  instructions: 'write "systemPrompt"',
  maxSteps: 'limits of a call are in "budget", as in budget: { maxSteps: 5 }',
  execute: 'its loop does the work; toResult makes the result of its state',
  timeout: TIMEOUT,
};
