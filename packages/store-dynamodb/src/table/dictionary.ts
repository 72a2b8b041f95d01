/**
 * Texts that headers and log entries have in common: member names in their usual order, and frequent values. Payloads
 * are deflated with this dictionary, so these texts take almost no bytes.
 *
 * Never change it, because stored payloads can only be read with it. A better dictionary needs a new form of payload.
 */
export const DICTIONARY = Buffer.from(
  [
    '"mediaType":"image/png","data":"{"type":"reasoning","text":"{"type":"error-text","value":"systemPromptllmConfigmetadataresponseFormatotherMessages',
    '{"info":{"sessionId":"","parentId":"","waitingFor":"approval","expiry":{"afterSeconds":"expiresAt":18"inbox":{"first":0,"next":1,"gaps":[0,1],"since":18},"usedIds":["',
    '"status":"completed","status":"suspended","status":"failed","executionStatus":"suspended","executionStatus":"completed","outcome":{"type":"failed","finishReason":"length","finishReason":"stop"',
    '"usage":{"inputTokens":,"outputTokens":,"cachedInputTokens":,"reasoningTokens":,"cost":{"id":"","role":"user","content":[{"type":"text","text":"',
    String.raw`[false,"",[],[["messages:messages",1,["{\"id\":\"","{\"id\":\"\",\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\""]]]]`,
    String.raw`[["messages:messages",1,["{\"id\":\"\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"\"},{\"type\":\"tool-call\",\"toolCallId\":\"call_\",\"toolName\":\"\",\"input\":{\"\"}}],\"createdAt\":1,\"metadata\":{\"step_id\":\"\",\"execution_id\":\"\",\"agent_id\":\"\",\"is_trace\":true}}",`,
    String.raw`"{\"id\":\"\",\"role\":\"tool\",\"content\":[{\"type\":\"tool-result\",\"toolCallId\":\"call_\",\"toolName\":\"\",\"output\":{\"type\":\"text\",\"value\":\"\"\"output\":{\"type\":\"json\",\"value\":{\"\"}}}],\"createdAt\":1,\"metadata\":{\"step_id\":\"\"is_trace\":true}}"]],`,
    String.raw`["steps",1,["{\"id\":\"\",\"input\":{\"continues\":true,\"ranges\":[{\"section\":\"messages\",\"from\":0,\"to\":1}]},\"output\":[{\"section\":\"messages\",\"from\":1,\"to\":3}],\"response\":{\"finishReason\":\"tool-calls\",\"usage\":{\"inputTokens\":1,\"outputTokens\":1,\"unpricedCalls\":1}},`,
    String.raw`\"toolExecutions\":[{\"id\":\"\",\"toolCallId\":\"call_\",\"startedAt\":1,\"completedAt\":1,\"outcome\":{\"type\":\"succeeded\"}}],\"startedAt\":1,\"completedAt\":1}"]]]]`,
    '{"version":1,"document":{"format":"holdfast/agent-session","version":1,"state":{"format":"holdfast/agent-state","version":1,"agentId":"","createdAt":1,"updatedAt":1,"executionCount":1,',
    '"execution":{"executionId":"","status":"inProgress","startedAt":1,"workedSeconds":0.0,"currentStep":{"id":"","input":{"continues":true,"ranges":[{"section":"messages","from":0,"to":1}]},',
    '"response":{"content":[{"type":"text","text":""},{"type":"tool-call","toolCallId":"call_","toolName":"","input":{"}}],"finishReason":"tool-calls","usage":{"inputTokens":1,"outputTokens":1,"unpricedCalls":1}},',
    '"toolExecutions":[{"id":"","toolCallId":"call_","startedAt":1}]},"currentStepStartedAt":1}}},"values":["definition"],"lists":[["messages:messages",1],["steps",1]]}',
    '{"entry":"000000#000000#","log":[1,1,1],"flips":["","",""],"item":""}',
    '{"info":{"sessionId":"","agentName":"","status":"active","version":1,"createdAt":1,"updatedAt":1,"executionStatus":"inProgress"},"incarnation":"","writes":1,"epoch":1,"attempt":1,"lastActiveAt":1,',
    '"progress":"/1","token":"","contentToken":"","lease":{"workerId":"holdfast/","until":1},"wakeAt":1,"operation":{"id":"","hash":""}}',
  ].join('\n'),
);
