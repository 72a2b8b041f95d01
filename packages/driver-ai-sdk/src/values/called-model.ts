/** The model that was called. */
export interface CalledModel {
  /** The provider's name, as in `openai.responses`. */
  readonly provider: string;
  /** The provider's id of the model. */
  readonly modelId: string;
}
