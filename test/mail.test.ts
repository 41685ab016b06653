import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { readConfig } from '../packages/server/src/config.ts'
import { countMails, type MailKind, mailsMax, uncountMail } from '../packages/server/src/organizations/mail-limit.ts'
import { type MailServer, startMailServer, tokenIn } from './harness/mail-server.ts'
import { startTestService, type TestService } from './harness/service.ts'
import { until } from './harness/until.ts'
import { addPerson, goodPassword, newEmail } from './harness/users.ts'

/** Mail by a real SMTP server: the recipient of each link, and the behaviour if it cannot be sent. */

const from = 'Penstock <penstock@example.com>'

async function prepare(
  t: TestContext,
  options: Parameters<typeof startMailServer>[0] = {},
  urlOf = ({ port }: MailServer) => `smtp://127.0.0.1:${port}`,
): Promise<{ service: TestService; server: MailServer }> {
  const server = await startMailServer(options)
  const service = await startTestService({ PENSTOCK_SMTP_URL: urlOf(server), PENSTOCK_MAIL_FROM: from })
  t.after(async () => {
    await service.close()
    await server.close()
  })
  return { service, server }
}

const request = (service: TestService, email: string) => service.call('requestPasswordReset', { body: { email } })

describe('an invitation', () => {
  test('is mailed to the person alone, and its link works', async (t) => {
    const { service, server } = await prepare(t)
    const { token } = await service.addOrganization()
    const email = newEmail()
    const invited = await service.call('inviteUser', { token, body: { email, role: 'editor' } })
    assert.equal(invited.response.mailed, true)
    const [mail] = await server.mailsTo(email)
    assert(mail)
    assert.deepEqual([mail.from, mail.to], ['penstock@example.com', [email]])
    assert.match(mail.text, /^From: Penstock <penstock@example\.com>\r$/m)
    assert.match(mail.text, /^Subject: Invitation to Test organization in Penstock\r$/m)
    assert(mail.text.includes(invited.response.link))
    const body = { token: tokenIn(mail), name: 'Ada', password: goodPassword }
    assert.equal((await service.call('acceptInvitation', { body })).response.email, email)
    assert.equal(server.mails.length, 1)
  })

  test('is mailed five times an hour to one address, from all organizations; the link is given in any case', async (t) => {
    const { service, server } = await prepare(t)
    const email = newEmail()
    const mailed: boolean[] = []
    for (let i = 0; i < 4; i++) {
      const { token } = await service.addOrganization()
      const { response } = await service.call('inviteUser', { token, body: { email, role: 'viewer' } })
      const again = await service.call('resendInvitation', { token, id: response.user.id })
      assert.notEqual(again.response.link, response.link)
      mailed.push(response.mailed, again.response.mailed)
    }
    assert.deepEqual(mailed, [true, true, true, true, true, false, false, false])
    assert.equal((await server.mailsTo(email, 5)).length, 5)
  })

  test('that is refused is not mailed', async (t) => {
    const { service, server } = await prepare(t)
    const { token } = await service.addOrganization()
    const email = newEmail()
    await service.call('inviteUser', { token, body: { email, role: 'viewer' } })
    assert.equal((await service.call('inviteUser', { token, body: { email, role: 'viewer' } })).error, 'user_exists')
    const last = newEmail()
    await service.call('inviteUser', { token, body: { email: last, role: 'viewer' } })
    await server.mailsTo(last)
    assert.equal(server.mails.length, 2)
  })
})

describe('the limit of mails', () => {
  const rule = { name: 'Orders', conditions: { transferFailed: true } }
  const stranger = 'stranger@example.org'

  test('holds for tests of alert rules however many rules are created and deleted', async (t) => {
    const { service } = await prepare(t)
    const { token } = await service.addOrganization()
    const test = async (emails: string[]) => {
      const { id } = (await service.call('createAlertRule', { token, body: { ...rule, emails } })).response
      const tested = await service.call('testAlertRule', { token, id })
      const { deliveryError } = (await service.call('getAlertRule', { token, id })).response
      await service.call('deleteAlertRule', { token, id })
      return { tested, deliveryError }
    }
    const { alertTest } = mailsMax
    for (let n = 0; n < alertTest.toRecipient; n++) {
      // Addresses that differ after a plus sign reach the same mailbox.
      const { tested, deliveryError } = await test([`stranger+${n}@example.org`])
      assert.deepEqual([tested.status, deliveryError], [202, null])
    }
    const refused = await test([stranger.toUpperCase()])
    assert.deepEqual([refused.tested.status, refused.tested.error], [429, 'rate_limited'])
    assert(Number(refused.tested.headers['retry-after']) > 0)
    // The others get their message, and the rule says who gets none.
    const partly = await test([newEmail(), stranger])
    assert.deepEqual(partly.tested.response, { queued: 1 })
    assert.match(partly.deliveryError?.message ?? '', /^No test was sent to 1 of 2 addresses: .*Try again in \d+ min/)
    const left = alertTest.ofOrganization - alertTest.toRecipient - 1
    for (let sent = 0; sent < left; sent += 13) {
      const emails = Array.from({ length: Math.min(13, left - sent) }, newEmail)
      assert.equal((await test(emails)).tested.response.queued, emails.length)
    }
    assert.equal((await test([newEmail()])).tested.error, 'rate_limited')
    // One count over all kinds, of which invitations can use more, and one count for each organization.
    const invited = await service.call('inviteUser', { token, body: { email: newEmail(), role: 'viewer' } })
    assert.equal(invited.response.mailed, true)
    const other = { token: (await service.addOrganization()).token }
    const { id } = (await service.call('createAlertRule', { ...other, body: { ...rule, emails: [newEmail()] } }))
      .response
    assert.equal((await service.call('testAlertRule', { ...other, id })).status, 202)
    await service.database.pool.query(`update mail_counts set since = since - interval '1 hour'`)
    assert.equal((await test([stranger])).tested.status, 202)
  })

  test('counts every kind of mail, and leaves the most to the kinds that people wait for', async (t) => {
    const { service } = await prepare(t)
    const { organizationId } = await service.addOrganization()
    const count = (kind: MailKind, recipients: string[]) =>
      service.database.transaction((tx) => countMails(tx, { organizationId, kind, recipients }))
    const allowed = async (kind: MailKind) => {
      let mails = 0
      while ((await count(kind, [stranger])).allowed.length > 0) mails++
      return mails
    }
    const order = ['alertTest', 'alert', 'webhookDisabled', 'passwordReset'] as const
    const found: number[] = []
    for (const kind of order) found.push(await allowed(kind))
    assert.deepEqual(found, [10, 10, 0, 10])
    const { retrySeconds, limited } = await count('passwordReset', [stranger])
    assert.deepEqual(limited, [stranger])
    assert(retrySeconds > 3_500 && retrySeconds <= 3_600)
    // A mail that could not be sent is taken back.
    await service.database.transaction((tx) =>
      uncountMail(tx, { organizationId, kind: 'passwordReset', recipient: stranger }),
    )
    assert.equal(await allowed('passwordReset'), 1)
  })

  test('that others use up takes nothing from people in their own organization', async (t) => {
    const { service } = await prepare(t)
    const organization = await service.addOrganization()
    const { email } = await addPerson(service, organization)
    const other = await service.addOrganization()
    const count = ({ organizationId }: { organizationId: string }) =>
      service.database.transaction((tx) => countMails(tx, { organizationId, kind: 'alert', recipients: [email] }))
    while ((await count(other)).allowed.length > 0);
    assert.deepEqual((await count(organization)).allowed, [email])
  })

  test('is kept by many at once', async (t) => {
    const { service } = await prepare(t)
    const { organizationId } = await service.addOrganization()
    const recipients = [newEmail(), newEmail(), newEmail()]
    const counted = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        service.database.transaction((tx) =>
          countMails(tx, {
            organizationId,
            kind: 'alertTest',
            recipients: n % 2 === 0 ? recipients : recipients.toReversed(),
          }),
        ),
      ),
    )
    assert.equal(counted.flatMap(({ allowed }) => allowed).length, recipients.length * mailsMax.alertTest.toRecipient)
  })
})

test('a rule that asks for e-mails says that there is no mail server, as soon as it is saved', async (t) => {
  const service = await startTestService()
  t.after(() => service.close())
  const { token } = await service.addOrganization()
  const body = { name: 'Orders', conditions: { transferFailed: true }, emails: ['ops@example.org'] }
  const made = (await service.call('createAlertRule', { token, body })).response
  const message =
    /^No e-mail is sent, because no mail server is set up\. Ask the operator to set PENSTOCK_SMTP_URL, or add/
  assert.deepEqual([made.deliveryError?.channel, made.enabled], ['email', true])
  assert.match(made.deliveryError?.message ?? '', message)
  const { id } = made
  const update = async (changed: object) =>
    (await service.call('updateAlertRule', { token, id, body: changed })).response.deliveryError
  assert.equal(await update({ emails: [] }), null)
  assert.match((await update({ emailRoles: ['owner'] }))?.message ?? '', message)
  assert.equal(await update({ enabled: false }), null)
  assert.match((await update({ enabled: true }))?.message ?? '', message)
  const listed = (await service.call('listAlertRules', { token })).response
  assert.deepEqual(
    listed.map(({ name, deliveryError }) => [name, deliveryError === null]),
    [
      ['Orders', false],
      ['Failures', false],
    ],
  )
})

test('a name of a tenant makes no link in a mail', async (t) => {
  const { service, server } = await prepare(t)
  const { token, organizationId } = await service.addOrganization()
  await service.database.pool.query('update organizations set name = $1 where id = $2', [
    'See https://evil.example/now',
    organizationId,
  ])
  const email = newEmail()
  await service.call('inviteUser', { token, body: { email, role: 'viewer' } })
  const [mail] = await server.mailsTo(email)
  assert(mail)
  assert(!mail.text.includes('evil.example') && !mail.text.includes('https://evil'), mail.text)
})

describe('a request for a new password', () => {
  test('is answered in one way, and mails a link to a person who has accepted', async (t) => {
    const { service, server } = await prepare(t)
    const organization = await service.addOrganization()
    const person = await addPerson(service, organization)
    const invited = newEmail()
    await service.call('inviteUser', { token: organization.token, body: { email: invited, role: 'viewer' } })
    const answers = new Set<string>()
    for (const email of [newEmail(), invited, person.email.toUpperCase()]) {
      const { status, json } = await request(service, email)
      answers.add(JSON.stringify([status, json]))
    }
    assert.equal(answers.size, 1)
    const mails = await server.mailsTo(person.email, 2)
    const reset = mails.find(({ text }) => text.includes('/reset-password#'))
    assert(reset)
    const body = { token: tokenIn(reset), newPassword: 'another sentence, a good one' }
    assert.equal((await service.call('resetPassword', { body })).status, 200)
    assert.equal((await service.call('resetPassword', { body })).error, 'link_invalid')
    await server.mailsTo(invited)
    // Two invitations and one link: nothing went to the unknown address, or to the invited one.
    assert.equal(server.mails.length, 3)
  })

  test('reaches a person in each of their organizations, and changes one of them', async (t) => {
    const { service, server } = await prepare(t)
    const email = newEmail()
    const organizations = [await service.addOrganization(), await service.addOrganization()]
    for (const organization of organizations) await addPerson(service, organization, { email })
    await request(service, email)
    const mails = (await server.mailsTo(email, 4)).filter(({ text }) => text.includes('/reset-password#'))
    assert.equal(mails.length, 2)
    const body = { token: tokenIn(mails[0] ?? assert.fail()), newPassword: 'another sentence, a good one' }
    const { response } = await service.call('resetPassword', { body })
    const signIn = async (password: string, organizationId: string) =>
      (await service.call('signIn', { body: { email, password, organizationId } })).status
    for (const { organizationId } of organizations) {
      const changed = organizationId === response.organizationId
      assert.deepEqual(
        [await signIn(goodPassword, organizationId), await signIn('another sentence, a good one', organizationId)],
        changed ? [401, 200] : [200, 401],
      )
    }
  })

  test('cannot fill a mailbox: five links are valid at once, and requests are throttled', async (t) => {
    const { service, server } = await prepare(t)
    const person = await addPerson(service, await service.addOrganization())
    const statuses: number[] = []
    for (let i = 0; i < 12; i++) statuses.push((await request(service, person.email)).status)
    assert.deepEqual(statuses, [...Array(10).fill(200), 429, 429])
    assert.equal((await request(service, newEmail())).status, 200)
    await server.mailsTo(person.email, 6)
    await service.service.close()
    assert.equal((await server.mailsTo(person.email)).length, 6, 'the invitation and five links')
  })
})

describe('a mail server', () => {
  test('gets the name and password of its address, over TLS', async (t) => {
    const login = { user: 'postbox', password: 'p@ss:word' }
    const { service, server } = await prepare(
      t,
      { secure: true, login },
      ({ port }) => `smtps://postbox:p%40ss%3Aword@127.0.0.1:${port}?tls.rejectUnauthorized=false`,
    )
    const email = newEmail()
    const { token } = await service.addOrganization()
    await service.call('inviteUser', { token, body: { email, role: 'viewer' } })
    const [mail] = await server.mailsTo(email)
    assert.deepEqual([mail?.user, mail?.secure], ['postbox', true])
  })

  for (const [what, options, urlOf] of [
    ['whose certificate is not trusted', { secure: true }, ({ port }) => `smtps://127.0.0.1:${port}`],
    ['elsewhere that offers no TLS', {}, ({ port }) => `smtp://[::ffff:127.0.0.1]:${port}`],
    ['that is not there', {}, () => 'smtp://127.0.0.1:1'],
  ] as const satisfies [string, object, (server: MailServer) => string][]) {
    test(`${what} gets nothing; the link is still given, and the log has no word of it`, async (t) => {
      const { service, server } = await prepare(t, options, urlOf)
      const { token } = await service.addOrganization()
      const invited = await service.call('inviteUser', { token, body: { email: newEmail(), role: 'viewer' } })
      assert.equal(invited.status, 201)
      const failure = () => service.logLines.find((line) => line.includes('a mail could not be sent'))
      await until('the failure is logged', () => failure() !== undefined, 20_000)
      assert.deepEqual(server.mails, [])
      const log = service.logLines.join('\n')
      for (const secret of [invited.response.link, 'psi_', invited.response.user.email]) assert(!log.includes(secret))
    })
  }
})

test('without a mail server, links are given and nothing is sent', async (t) => {
  const service = await startTestService()
  t.after(() => service.close())
  const { token } = await service.addOrganization()
  const invited = await service.call('inviteUser', { token, body: { email: newEmail(), role: 'viewer' } })
  assert.equal(invited.response.mailed, false)
  assert.deepEqual((await request(service, newEmail())).response, { mail: false })
})

describe('the settings of mail', () => {
  const read = (url: string | undefined, sender: string | undefined) =>
    readConfig({ ...(url ? { PENSTOCK_SMTP_URL: url } : {}), ...(sender ? { PENSTOCK_MAIL_FROM: sender } : {}) }).mail
  test('are taken together, or not at all', () => {
    assert.equal(read(undefined, undefined), undefined)
    assert.deepEqual(read('smtp://mail.example.com', from), { url: 'smtp://mail.example.com', from })
    assert.deepEqual(read('smtps://u:p@mail.example.com:465', 'a@b.c')?.from, 'a@b.c')
    for (const [url, sender] of [
      ['smtp://mail.example.com', undefined],
      [undefined, from],
      ['http://mail.example.com', from],
      ['mail.example.com', from],
      ['smtp://', from],
      ['smtp://mail.example.com', 'Penstock'],
      ['smtp://mail.example.com', 'a@b.c, d@e.f'],
    ] as const) {
      assert.throws(() => read(url, sender), { name: 'Error', message: /PENSTOCK_(SMTP_URL|MAIL_FROM)/ })
    }
  })
})
