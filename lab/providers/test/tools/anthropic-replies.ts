/** A response of Anthropic. */
export function message(stop_reason: string, ...content: readonly object[]): object {
  return {
    type: 'message',
    id: `msg_${stop_reason}_${content.length}`,
    model: 'claude-sonnet-4-5',
    role: 'assistant',
    content,
    stop_reason,
    stop_sequence: null,
    usage: { input_tokens: 11, output_tokens: 7 },
  };
}

/** Code that Anthropic runs. */
export const codeCall = {
  type: 'server_tool_use',
  id: 'srvtoolu_1',
  name: 'code_execution',
  input: { code: 'add(1, 2)' },
};

/** The call of the tool `add` by the code. */
export function addCallOf(id: string, a: number, b: number): object {
  const caller = { type: 'code_execution_20250825', tool_id: codeCall.id };
  return { type: 'tool_use', id, name: 'add', input: { a, b }, caller };
}

/** The result of the code. */
export function codeResult(stdout: string): object {
  const content = { type: 'code_execution_result', stdout, stderr: '', return_code: 0, content: [] };
  return { type: 'code_execution_tool_result', tool_use_id: codeCall.id, content };
}
