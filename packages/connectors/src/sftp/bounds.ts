/** Limits for a server and for the key of a user. */
export const bounds = {
  /** Rounds of the function that derives a key from the passphrase of an OpenSSH key. ssh-keygen uses 16 or 24. */
  keyRounds: 1_024,
  /** Time for these rounds, in milliseconds. */
  keyMs: 60_000,
  /** Bits of an RSA or DSA key. */
  keyBits: 16_384,
  /** Time until SFTP has begun, in milliseconds. */
  signInMs: 30_000,
  /** Bytes that a server can send before the sign-in is complete. */
  signInBytes: 1024 * 1024,
  /** Questions for a password in a dialogue. */
  prompts: 10,
  /** Limit of bytes that wait because the server does not read. The connector itself has about 2 MiB in flight. */
  waitingBytes: 4 * 1024 * 1024,
  /** Key exchanges of a session. */
  keyExchanges: 1_000,
  /** Time until one request is answered, in milliseconds. */
  requestMs: 60_000,
  /** Entries of a directory, and the time to list them in milliseconds. */
  listEntries: 100_000,
  listMs: 600_000,
  /** Characters of a name in a directory. */
  nameLength: 1_024,
  /** Time until a piece of 30 KiB has come, however small its parts, in milliseconds. */
  pieceMs: 300_000,
} as const
