/** A part of a manifest that cannot be carried. The message is a sentence. */
export class TranslationError extends Error {}
