/**
 * Limits of a server before the connection is closed. Every limit of an HTTP exchange is here, and each error names its
 * limit.
 */
export type EgressBounds = {
  /** Bytes of the status line and all headers of one answer, and of its trailers. */
  readonly headerBytes: number
  /** Interim answers (status 1xx) before the answer itself. */
  readonly interimAnswers: number
  /** Redirects that are followed, whatever a caller asks for. */
  readonly redirects: number
  /** Milliseconds until a host name is found. */
  readonly lookUpMs: number
  /**
   * An answer that is read whole: milliseconds that reading may wait for the server in total, and how many bytes a second
   * earn more of them. A page of 16 MiB may so take up to 5 minutes, and a short answer 1 minute.
   */
  readonly answerMs: number
  readonly answerBytesPerSecond: number
  /** The same for a file, which may be large and its server slow. */
  readonly fileMs: number
  readonly fileBytesPerSecond: number
  /** Bytes of an answer that is read whole, unless its reader knows better. */
  readonly answerBytes: number
  /** Bytes of any answer, decompressed. */
  readonly bodyBytes: number
  /** Bytes that a compressed answer may become in any case, and beyond these how many times its compressed size. */
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
