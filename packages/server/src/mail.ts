import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Config } from './config.ts'
import type { Logger } from './log.ts'

/** Mail by the operator's SMTP server. */

export type Mail = {
  readonly to: string
  readonly subject: string
  readonly text: string
  /** The same each time that the mail is sent, so that a repeated mail is recognised. */
  readonly messageId?: string
}

export type Mailer = {
  /** Whether the operator has set up a mail server. */
  readonly isSetUp: boolean
  /** Sends the mail in the background. If that fails, the failure is logged without the text of the mail. */
  send(mail: Mail): void
  /** Sends the mail. Rejects if that fails: with `permanent` if it can never be sent. */
  deliver(mail: Mail): Promise<void>
  /**
   * Runs the work that precedes a mail at a random time, at most a second after the request. Otherwise the duration of the next
   * request would reveal whether there was anything to do. Does nothing if no mail server is set up.
   */
  inBackground(work: () => Promise<void>): void
  /** Waits a short time for mails that are being sent, then disconnects from the server. */
  close(): Promise<void>
}

/** Characters that mail and chat programs turn into links if more text follows. */
const linking = /[.:/@](?=\S)/gu
const spaces = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu

/**
 * A text of a tenant, such as a name or a host, in one line and without links: where a mail reader would detect a link, a
 * zero-width character breaks it.
 */
export const unlinked = (text: string): string => text.replaceAll(spaces, ' ').trim().replaceAll(linking, '$&\u200b')

/** A mail could not be sent. */
export class MailError extends Error {
  override readonly name = 'MailError'
  /** The mail server refused it permanently. */
  readonly permanent: boolean
  constructor(permanent: boolean) {
    super('The mail server did not take a mail.')
    this.permanent = permanent
  }
}

/** Mails that wait or are being sent. More mails are dropped, so that a flood cannot fill the memory. */
const pendingMax = 1_000
const timeoutMs = 15_000
/** Background work begins within this time. */
const backgroundMsMax = 1_000
/** How long the end of the service waits for mails that are being sent. */
const closeWaitMs = 5_000

const isLoopback = (host: string) => /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(host)

/** The connection of the settings to the mail server, with one bound for each step. */
export async function mailTransport({ url }: NonNullable<Config['mail']>, stepMs: number, more: object = {}) {
  const { protocol, hostname, searchParams } = new URL(url)
  const { createTransport } = await import('nodemailer')
  return createTransport({
    url,
    ...more,
    disableFileAccess: true,
    disableUrlAccess: true,
    connectionTimeout: stepMs,
    greetingTimeout: stepMs,
    socketTimeout: stepMs,
    dnsTimeout: stepMs,
    // Mails contain links that open accounts. They are not sent in plain text over a network unless the operator
    // allows it.
    ...(isLoopback(hostname) || searchParams.get('ignoreTLS') === 'true'
      ? { ignoreTLS: true }
      : { requireTLS: protocol === 'smtp:' }),
  })
}

/** Creates the mailer. It loads the mail library and connects to the server when it sends the first mail. */
export function createMailer({ mail }: Pick<Config, 'mail'>, log: Logger): Mailer {
  if (!mail) {
    const deliver = async () => {
      throw new MailError(false)
    }
    return { isSetUp: false, send: () => {}, deliver, inBackground: () => {}, close: async () => {} }
  }
  const { from } = mail
  const open = () => mailTransport(mail, timeoutMs, { pool: true, maxConnections: 2 })
  let transport: ReturnType<typeof open> | undefined
  const pending = new Set<Promise<void>>()
  const deliver = async ({ to, subject, text, messageId }: Mail) => {
    try {
      transport ??= open()
      const more = messageId === undefined ? {} : { messageId, headers: { 'Auto-Submitted': 'auto-generated' } }
      await (await transport).sendMail({ from, to: { name: '', address: to }, subject, text, ...more })
    } catch (error) {
      // The words of a mail server can quote the mail.
      const { code, responseCode } = error as { code?: unknown; responseCode?: unknown }
      log.error({ code, responseCode, subject }, 'a mail could not be sent')
      throw new MailError(typeof responseCode === 'number' && responseCode >= 500)
    }
  }
  const track = (work: () => Promise<void>) => {
    const done = work().finally(() => pending.delete(done))
    pending.add(done)
  }
  return {
    isSetUp: true,
    deliver,
    send: (one) => {
      if (pending.size >= pendingMax) return log.error({ subject: one.subject }, 'too many mails wait: one was dropped')
      track(() => deliver(one).catch(() => {}))
    },
    inBackground: (work) => {
      if (pending.size >= pendingMax) return log.error('too many mails wait: one was dropped')
      track(async () => {
        await delay(randomInt(backgroundMsMax))
        await work().catch((err) => log.error({ err }, 'a mail could not be prepared'))
      })
    },
    close: async () => {
      const sent = async () => {
        while (pending.size > 0) await Promise.all(pending)
      }
      const waited = new AbortController()
      await Promise.race([sent(), delay(closeWaitMs, undefined, { signal: waited.signal })])
      waited.abort()
      ;(await transport)?.close()
    },
  }
}
