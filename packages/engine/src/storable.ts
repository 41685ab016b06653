/**
 * Text as PostgreSQL can hold it: with a replacement character for zero bytes and for halves of characters. For what
 * people read; what must come back as it was is sealed.
 */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd')
