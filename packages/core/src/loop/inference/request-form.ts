/** The legal form of a name or an id in a request. */
export interface NameForm {
  /** The legal characters, as they stand in a class of a regular expression, such as `A-Za-z0-9_-`. */
  readonly characters: string;
  /** The legal first characters. Default: all legal characters. */
  readonly first?: string;
  /** The largest number of characters. */
  readonly maxLength: number;
  /** The smallest number of characters; default 1. */
  readonly minLength?: number;
}

/** The media types of files that a provider takes, by the place of the file, as regular expressions. Absent: none. */
export interface FileForm {
  /** In messages of the user. */
  readonly user?: string;
  /** In messages of the user, when the file is a URL: types besides those of `user`. */
  readonly userUrl?: string;
  /** In messages of the assistant. */
  readonly answer?: string;
  /** In results of tools. */
  readonly result?: string;
}

/**
 * The demands of a provider on the messages and tools of a request. It is plain data, so that a driver can keep a table of
 * providers. The loop changes each request to the form of the model that it calls; see `Driver.formOf`. Every form demands
 * that arguments are objects, that texts have no lone surrogates and no message is without content, and that the data of
 * files is base64 or a URL.
 */
export interface RequestForm {
  /** The name of the form, such as `anthropic`. Requests of forms with the same name are the same. */
  readonly name: string;
  /** The names of tools in calls and results. */
  readonly toolName: NameForm;
  /** The ids of tool calls. */
  readonly callId: NameForm;
  /** True when the provider takes texts of white space only. */
  readonly takesBlankTexts: boolean;
  /** True when the provider takes system messages anywhere. False: only before the first message of another role. */
  readonly takesLaterSystemMessages: boolean;
  /** True when the provider takes a first message of the assistant. */
  readonly takesFirstAnswer: boolean;
  /** True when the provider takes a last message of the assistant, and continues it. */
  readonly takesLastAnswer: boolean;
  /** True when the provider takes several messages of the user, or of the assistant, one after the other. */
  readonly takesUserMessagesInARow: boolean;
  /** True when the provider takes a message of the user right after the results of tools. */
  readonly takesUserMessageAfterResults: boolean;
  /** True when the provider takes the reasoning of its own earlier responses. */
  readonly takesReasoning: boolean;
  /**
   * A regular expression over the ids of calls that the provider ran itself. Other such calls ran at another provider, and
   * are omitted. Absent: all are omitted.
   */
  readonly ownCallIds?: string;
  /**
   * The names in `providerOptions` that the provider reads. Custom parts for other providers are omitted. Absent: all are
   * sent.
   */
  readonly optionNames?: readonly string[];
  /**
   * The members of a provider's options that refer to the response that a part comes from, such as the id of an item. They
   * are omitted where the reasoning of the response is omitted.
   */
  readonly boundOptions?: readonly string[];
  /** True when the provider takes the calls that it ran itself only after the reasoning of the same response. */
  readonly ownCallsNeedReasoning?: boolean;
  /** The media types of files that the provider takes. Absent: all. A text takes the place of other files. */
  readonly files?: FileForm;
  /** True when the provider takes a message with a file only with a text. */
  readonly filesNeedText?: boolean;
  /** True when files have no names of their own in a request. A text names them. */
  readonly omitsFileNames?: boolean;
  /** True when the provider takes one call in a message only. Each call of several is sent right before its result. */
  readonly takesSingleCalls?: boolean;
  /** True when the tools in calls and results must be among the tools of the request. Missing ones are declared. */
  readonly declaresCalledTools?: boolean;
  /** Text to send before tool calls that have none, for a provider that demands some. */
  readonly textBeforeCalls?: string;
  /** Reasoning to send before tool calls that have none, for a provider that demands some. */
  readonly reasoningBeforeCalls?: string;
  /** Options to add to the first tool call of a response that has none of them, for a provider that demands some. */
  readonly callOptions?: { readonly [provider: string]: { readonly [member: string]: string } };
}

/** The members of provider options that refer to the response that they come from, at any provider. */
const BOUND_OPTIONS: readonly string[] = Object.freeze([
  'itemId',
  'reasoningEncryptedContent',
  'thoughtSignature',
  'reasoning_details',
  'signature',
  'redactedData',
]);

/** The strictest common form: a history in this form is legal for every provider that is known. */
export const STRICTEST_FORM: RequestForm = Object.freeze<RequestForm>({
  name: 'strictest',
  toolName: Object.freeze({ first: 'A-Za-z', characters: 'A-Za-z0-9_', maxLength: 64 }),
  callId: Object.freeze({ characters: 'A-Za-z0-9', maxLength: 9, minLength: 9 }),
  takesBlankTexts: false,
  takesLaterSystemMessages: false,
  takesFirstAnswer: false,
  takesLastAnswer: false,
  takesUserMessagesInARow: false,
  takesUserMessageAfterResults: false,
  takesReasoning: false,
  optionNames: Object.freeze([]),
  boundOptions: BOUND_OPTIONS,
  files: Object.freeze({}),
  takesSingleCalls: true,
  declaresCalledTools: true,
  textBeforeCalls: '(calls a tool)',
});

/** Returns the strictest form with what only the provider of `form` demands. */
export function strictestLike({ reasoningBeforeCalls, callOptions }: RequestForm): RequestForm {
  if (reasoningBeforeCalls === undefined && callOptions === undefined) return STRICTEST_FORM;
  return {
    ...STRICTEST_FORM,
    name: `strictest ${reasoningBeforeCalls} ${JSON.stringify(callOptions)}`,
    ...(reasoningBeforeCalls !== undefined && { reasoningBeforeCalls }),
    ...(callOptions !== undefined && { callOptions }),
  };
}

/**
 * The form for a driver that names none. It leaves reasoning, order and roles to the driver, which may know its provider,
 * and repairs what no provider takes.
 */
export const USUAL_FORM: RequestForm = Object.freeze<RequestForm>({
  name: 'usual',
  toolName: Object.freeze({ first: 'A-Za-z_', characters: 'A-Za-z0-9_-', maxLength: 64 }),
  takesBlankTexts: false,
  callId: Object.freeze({ characters: 'A-Za-z0-9_-', maxLength: 40 }),
  takesLaterSystemMessages: true,
  takesFirstAnswer: true,
  takesLastAnswer: true,
  takesUserMessagesInARow: true,
  takesUserMessageAfterResults: true,
  takesReasoning: true,
  ownCallIds: '',
});
