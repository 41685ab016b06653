/**
 * Text that PostgreSQL can store: zero bytes and halves of characters become replacement characters. For texts that people read.
 * Data that must be restored exactly is sealed.
 */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd')
