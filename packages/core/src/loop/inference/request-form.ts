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
  /** True when the provider takes several messages of the user one after the other. */
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
  /** Reasoning to send before tool calls that have none, for a provider that demands some. */
  readonly reasoningBeforeCalls?: string;
  /** Options to add to the first tool call of a response that has none of them, for a provider that demands some. */
  readonly callOptions?: { readonly [provider: string]: { readonly [member: string]: string } };
}

/** The strictest common form: a history in this form is legal for every provider that is known. */
export const STRICTEST_FORM: RequestForm = Object.freeze<RequestForm>({
  name: 'strictest',
  toolName: Object.freeze({ first: 'A-Za-z_', characters: 'A-Za-z0-9_-', maxLength: 64 }),
  callId: Object.freeze({ characters: 'A-Za-z0-9', maxLength: 9, minLength: 9 }),
  takesBlankTexts: false,
  takesLaterSystemMessages: false,
  takesFirstAnswer: false,
  takesLastAnswer: false,
  takesUserMessagesInARow: false,
  takesUserMessageAfterResults: false,
  takesReasoning: false,
});

/**
 * The form for a driver that names none. It leaves reasoning, order and roles to the driver, which may know its provider,
 * and repairs what no provider takes.
 */
export const USUAL_FORM: RequestForm = Object.freeze<RequestForm>({
  ...STRICTEST_FORM,
  name: 'usual',
  callId: Object.freeze({ characters: 'A-Za-z0-9_-', maxLength: 40 }),
  takesLaterSystemMessages: true,
  takesFirstAnswer: true,
  takesLastAnswer: true,
  takesUserMessagesInARow: true,
  takesUserMessageAfterResults: true,
  takesReasoning: true,
  ownCallIds: '',
});
