import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'
import { until } from './until.ts'

/** A mail server, which keeps what it gets. */
export type MailServer = {
  readonly port: number
  readonly mails: Received[]
  /** Waits for the mails to an address, at most 10 seconds. */
  mailsTo(address: string, count?: number): Promise<Received[]>
  close(): Promise<void>
}

export type Received = {
  readonly from: string
  readonly to: readonly string[]
  readonly user: string | undefined
  readonly secure: boolean
  /** The text as it was sent, without the line breaks of quoted-printable. */
  readonly text: string
}

/** @param secure TLS from the start, with a certificate that no one should trust */
export async function startMailServer({
  secure = false,
  startTls = false,
  login,
}: {
  secure?: boolean
  startTls?: boolean
  login?: { user: string; password: string }
} = {}): Promise<MailServer> {
  const mails: Received[] = []
  const server = new SMTPServer({
    secure,
    logger: false,
    authOptional: login === undefined,
    allowInsecureAuth: true,
    disabledCommands: startTls ? [] : ['STARTTLS'],
    onAuth: ({ username, password }, _, done) =>
      username === login?.user && password === login?.password
        ? done(null, { user: username })
        : done(new Error('535 no')),
    onData: (stream, { envelope, user, secure: isSecure }, done) => {
      void text(stream).then((raw) => {
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
        const body = raw.replaceAll('=\r\n', '').replaceAll('=3D', '=')
        const to = envelope.rcptTo.map(({ address }) => address)
        mails.push({ from, to, user: user === undefined ? undefined : String(user), secure: isSecure, text: body })
        done()
      })
    },
  })
  // A client that ends a connection which it does not trust is no failure of the server.
  server.on('error', () => {})
  const listener = server.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const mailsTo = (address: string) => mails.filter(({ to }) => to.includes(address))
  return {
    port: (listener.address() as AddressInfo).port,
    mails,
    mailsTo: async (address, count = 1) => {
      await until(`${count} mails to ${address}`, () => mailsTo(address).length >= count, 10_000)
      return mailsTo(address)
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

/** The token of the link in a mail. */
export function tokenIn({ text }: Received): string {
  const [, token] = /#(ps[ir]_[\w-]{43})\s/.exec(text) ?? []
  assert(token, text)
  return token
}
