// Media types as regular expressions, for the files that a provider takes.

export const PICTURES = '^image(/(\\*|png|jpe?g|gif|webp))?$';
export const PDF = '^application/pdf$';
/** The sounds that OpenAI takes, and the packages for its protocol. */
export const SOUNDS = '^audio/(wav|x-wav|mp3|mpeg)$';
export const TEXTS = '^text/';
