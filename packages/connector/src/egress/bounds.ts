/**
 * Limits for a server before the connection is closed. Every limit of an HTTP exchange is here, and each error names its limit.
 */
export type EgressBounds = {
  /** Bytes of the status line and all headers of one answer, and of its trailers. */
  readonly headerBytes: number
  /** Interim answers (status 1xx) before the answer itself. */
  readonly interimAnswers: number
  /** Maximum redirects that are followed, for any caller. */
  readonly redirects: number
  /** Milliseconds for the lookup of a host name. */
  readonly lookUpMs: number
  /**
   * An answer that is read as a whole: milliseconds that reading can wait for the server in total, and the bytes a second that
   * extend them. So a page of 16 MiB can take up to 5 minutes, and a short answer 1 minute.
   */
  readonly answerMs: number
  readonly answerBytesPerSecond: number
  /** The same for a file, which may be large and its server slow. */
  readonly fileMs: number
  readonly fileBytesPerSecond: number
  /** Bytes of an answer that is read as a whole, by default. */
  readonly answerBytes: number
  /** Bytes of any answer, decompressed. */
  readonly bodyBytes: number
  /** Bytes to which a compressed answer can always expand, and above these the maximum multiple of its compressed size. */
  readonly unpackedBytes: number
  readonly unpackedRatio: number
}

export const egressBounds: EgressBounds = {
  headerBytes: 32 << 10,
  interimAnswers: 20,
  redirects: 10,
  lookUpMs: 30_000,
  answerMs: 60_000,
  answerBytesPerSecond: 64 << 10,
  fileMs: 60_000,
  fileBytesPerSecond: 1 << 10,
  answerBytes: 16 << 20,
  bodyBytes: 2 ** 40,
  unpackedBytes: 16 << 20,
  unpackedRatio: 200,
}
