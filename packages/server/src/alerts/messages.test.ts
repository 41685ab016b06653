import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AlertContent, AlertItem } from './content.ts'
import { mailOf, slackBodyOf, teamsBodyOf } from './forms.ts'
import { messageOf, nameOf } from './messages.ts'

const item: AlertItem = {
  incidentId: '1'.repeat(16),
  accountId: '2'.repeat(16),
  accountName: 'Acme',
  connectionId: '3'.repeat(16),
  connectionName: 'Orders',
  reasons: ['transfer_failed'],
  errorCode: 'invalid_credentials',
  platform: 'Webhook',
  transferId: null,
  since: 1_788_249_600,
  until: null,
  resolution: null,
}
const contentOf = (items: readonly AlertItem[], kind: 'opened' | 'resolved' = 'opened'): AlertContent => ({
  kind,
  ruleId: '4'.repeat(16),
  ruleName: 'Failures',
  accountId: null,
  total: items.length,
  items: items.slice(0, 10),
  groups: items[0] ? [{ count: items.length, like: items[0] }] : [],
})
const publicUrl = 'https://penstock.example.com'

const hostile = [
  '<!channel> <https://evil.example|Sign in> <@U012345>',
  '[Sign in](https://evil.example) <at>Everyone</at> **bold** `code`',
  'Orders\r\nBcc: victim@example.com\r\n\r\nSign in at http://evil.example/login',
  'https://evil.example/login?a=b#c www.evil.example evil.example mailto:eve@evil.example',
  '<script>alert(1)</script>"\' &amp; &lt;',
  `\u202Egro.elpmaxe.live//:sptth\u2028${'x'.repeat(180)}`,
  '&'.repeat(200),
  '𝒳'.repeat(200),
]

test('a message names the table and the columns that an incident is about', () => {
  const linesOf = (of: Partial<AlertItem>) => messageOf(contentOf([{ ...item, ...of }]), publicUrl).lines
  assert(linesOf({ table: 'crm.customers', columns: ['phone', 'vat'] }).some((line) => line.startsWith('Table “crm')))
  assert(linesOf({ columns: ['phone', 'vat'] }).includes('Columns “phone”, “vat”.'))
  assert(linesOf({ table: 'people', columns: ['vat'] }).includes('Table “people”, column “vat”.'))
  assert(!linesOf({}).some((line) => line.startsWith('Table') || line.startsWith('Column')))
})

describe('a name of a tenant', () => {
  for (const name of hostile) {
    test(`makes no link, mention, heading or line: ${JSON.stringify(name).slice(0, 60)}`, () => {
      const content = {
        ...contentOf([{ ...item, connectionName: name, accountName: name, table: name, columns: [name] }]),
        ruleName: name,
      }
      for (const message of [
        messageOf(content, publicUrl),
        messageOf(contentOf([item, { ...item, connectionName: name }]), publicUrl),
      ]) {
        const mail = mailOf(message)
        assert.doesNotMatch(mail.subject, /[\r\n\p{Cc}\u2028\u2029\u202e]/u)
        const rest = mail.text.replaceAll(publicUrl, '')
        assert.doesNotMatch(rest, /\w:\/\/|www\.\w|mailto:\w|\w@\w|\w\.(?:example|com)\b/)
        assert(!mail.text.includes('evil.example'))

        const slack = slackBodyOf(message)
        const { text, blocks } = JSON.parse(slack)
        const texts: { type: string; text: string }[] = blocks.flatMap(
          (block: { text?: object; elements?: object[] }) => block.text ?? block.elements,
        )
        assert.doesNotMatch(text, /[<>]/)
        for (const one of texts) {
          if (one.type === 'mrkdwn') assert.match(one.text, /^<https:\/\/penstock\.example\.com\/[\w/]+\|[\w ]+>$/)
          else assert.doesNotMatch(one.text, /[<>]|&(?!amp;|lt;|gt;)/)
          assert(one.text.length <= 3_000)
        }
        assert(blocks[0].text.text.length <= 150)

        const card = JSON.parse(teamsBodyOf(message)).attachments[0].content
        for (const block of card.body) assert.equal(block.type, 'RichTextBlock')
        assert.deepEqual(Object.keys(card).sort(), ['$schema', 'actions', 'body', 'type', 'version'])
        assert.equal(card.actions.length, 1)
        assert(card.actions[0].url.startsWith(publicUrl))
        assert(Buffer.byteLength(JSON.stringify(card)) < 28_000)
      }
    })
  }

  test('stays readable', () => {
    assert.equal(nameOf('Orders → Meta'), '“Orders → Meta”')
    assert.equal(nameOf('  two   words  '), '“two words”')
  })
})

describe('a message', () => {
  test('says what happened, where, since when, what to do, with a link', () => {
    const { title, lines, link } = messageOf(contentOf([{ ...item, transferId: '5'.repeat(16) }]), publicUrl)
    assert.equal(title, 'A transfer failed: “Orders” in “Acme”')
    assert.deepEqual(lines, [
      'A transfer failed. Webhook: The platform does not accept the credentials, or they are malformed.',
      'Connection “Orders” in “Acme”, since 2026-09-01 08:00 UTC.',
      'What to do: Authorize the connector again, or save valid credentials in it, then activate the connection.',
    ])
    assert.equal(
      link.url,
      `${publicUrl}/accounts/${item.accountId}/connections/${item.connectionId}/transfers/${'5'.repeat(16)}`,
    )
  })

  test('of many incidents says how many are alike, names the first ones, and is bounded', () => {
    const items = Array.from({ length: 5_000 }, (_, i) => ({
      ...item,
      connectionName: `Orders ${i} ${'&'.repeat(190)}`,
    }))
    const message = messageOf(contentOf(items), publicUrl)
    assert.equal(message.title, '5000 connections need attention')
    assert.match(message.lines[0] ?? '', /^5000 × A transfer failed\. Webhook: /)
    assert.equal(message.lines.at(-1), 'and 4990 more')
    assert(Buffer.byteLength(teamsBodyOf(message)) < 28_000)
    assert(Buffer.byteLength(slackBodyOf(message)) < 20_000)
    assert.equal(message.link.url, `${publicUrl}/alerts`)
  })

  test('of a code that is not known says what happened all the same', () => {
    for (const errorCode of ['constructor', '__proto__', 'future_code']) {
      const { lines } = messageOf(contentOf([{ ...item, errorCode }]), publicUrl)
      assert.equal(lines[0], 'A transfer failed.')
    }
  })
})
