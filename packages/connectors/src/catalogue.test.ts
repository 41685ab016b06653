import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import {
  type Connector,
  defineConnector,
  definePlatform,
  type Fields,
  movesIn,
  type Platform,
  type Side,
} from '@penstock/connector'
import { dataTypeCategories, dataTypes, identifierPattern, platformTypes } from '@penstock/wire'
import { makeCatalogue } from './catalogue.ts'
import { connectorById, connectors, listedConnectors, logoOf, platforms } from './index.ts'

const slugPattern = /^[a-z0-9]+(-[a-z0-9]+)*$/

const sidesOf = ({ source, destination }: Connector): Side[] =>
  [source, destination].filter((side) => side !== undefined)
const groupsOf = (connector: Connector): Fields[] =>
  [connector.secrets, ...sidesOf(connector).map(({ fields }) => fields)].filter((group) => group !== undefined)

describe('the catalogue', () => {
  for (const [what, terms, used] of [
    ['data type', dataTypes, connectors.map(({ dataType }) => dataType)],
    ['category of data types', dataTypeCategories, connectors.map(({ dataTypeCategory }) => dataTypeCategory)],
    ['platform type', platformTypes, connectors.map(({ platform }) => platform.type)],
  ] as const) {
    test(`knows a connector of every ${what}, which can be withdrawn`, () => {
      assert.deepEqual([...new Set<string>(used)].sort(), [...terms].sort())
    })
  }

  test('never guesses the column that says what is created or changed at a platform', () => {
    const names =
      /\b(?:ID|IDs|Name|Key|Segments) of (?:the |an? )?(?:audience|segment|list|advertiser|person: |conversion (?:action|definition|rule)|goal|pixel|tracking|merchant)/i
    const fields = connectors.flatMap(({ slug, destination }) =>
      Object.entries(destination?.records ?? {}).map(([field, definition]) => ({ slug, field, ...definition })),
    )
    const guessed = fields.filter(({ description, addresses }) => names.test(description) && !addresses)
    assert.deepEqual(
      guessed.map(({ slug, field }) => `${slug} ${field}`),
      [],
    )
    assert(fields.filter(({ addresses }) => addresses).length > 50)
  })

  test('states what a transfer creates if nothing names it, so that a person is asked', () => {
    const audiences = ['segment_name', 'segment_id']
    const creating: string[] = []
    for (const { slug, destination } of connectors) {
      const { records = {}, fields = {}, creates } = destination ?? {}
      const named = audiences.filter((name) => name in records)
      const mustName = named.some((name) => records[name]?.required || records[name]?.oneOf !== undefined)
      assert.deepEqual(creates?.records ?? [], mustName ? [] : named, slug)
      assert(creates?.settings.every((name) => name in fields) ?? true, slug)
      if (creates) creating.push(slug)
    }
    assert(creating.length > 10)
    // Nothing else is created by default: a switch that creates something is off until a person turns it on.
    const switches = connectors.flatMap(({ slug, destination }) =>
      Object.entries(destination?.fields ?? {}).flatMap(([name, { type, default: byDefault, label }]) =>
        type === 'Boolean' && byDefault === true && /^create/i.test(label) ? [`${slug} ${name}`] : [],
      ),
    )
    assert.deepEqual(switches, [])
  })

  test('gives every connector a slug, an identifier from it, and a name, all of them its own', () => {
    for (const { slug, id, name } of connectors) {
      assert.match(slug, slugPattern)
      assert.match(id, new RegExp(identifierPattern))
      assert.equal(id, createHash('sha256').update(`connector:${slug}`).digest('hex').slice(0, 16))
      assert.equal(name, name.trim())
      assert.notEqual(name, '')
    }
    for (const key of ['slug', 'id', 'name'] as const) {
      assert.equal(new Set(connectors.map((connector) => connector[key].toLowerCase())).size, connectors.length)
    }
  })

  test('says of every connector which version of an API or a protocol it uses, and when that ends', () => {
    // These have no API of a platform.
    const without = [
      'event-stream',
      'file-upload',
      'https-file',
      'local-folder',
      'outcomes',
      'rejected-records',
      'webhook',
    ]
    assert.deepEqual(
      listedConnectors
        .filter(({ api }) => !api?.version.trim() || !api.ends.trim())
        .map(({ slug }) => slug)
        .sort(),
      without,
    )
  })

  test('gives every platform a slug and a name of its own', () => {
    for (const { slug } of platforms) assert.match(slug, slugPattern)
    for (const key of ['slug', 'name'] as const) {
      assert.equal(new Set(platforms.map((platform) => platform[key].toLowerCase())).size, platforms.length)
    }
    assert.deepEqual(new Set(connectors.map(({ platform }) => platform)), new Set(platforms))
  })

  test('lists connectors and platforms by name, in whatever case it is written', () => {
    for (const list of [connectors, platforms]) {
      const names = list.map(({ name }) => name.toLowerCase())
      assert.deepEqual(names, [...names].sort(new Intl.Collator('en').compare))
    }
  })

  test('lists what is not withdrawn: data moves in every role of these, and through no withdrawn connector', () => {
    for (const connector of connectors) {
      const { slug, status, withdrawn, integrated } = connector
      assert.equal(listedConnectors.includes(connector), status !== 'withdrawn', slug)
      if (!withdrawn) {
        for (const role of connector.roles) assert(movesIn(connector, role), `${slug}: no data moves as a ${role}`)
        continue
      }
      assert.equal(integrated, false, slug)
      for (const sentence of [withdrawn.why, withdrawn.instead]) assert.match(sentence, /^\p{Lu}.*\.$/u, slug)
      const named = listedConnectors.filter(({ name, platform }) =>
        [name, platform.name].some((each) => withdrawn.instead.includes(each)),
      )
      assert.ok(named.length > 0, `${slug}: what to use instead names no connector`)
    }
  })

  test('finds a connector by its identifier', () => {
    for (const connector of connectors) assert.equal(connectorById(connector.id), connector)
    for (const id of ['', '0000000000000000', 'constructor', '__proto__']) assert.equal(connectorById(id), undefined)
  })

  test('describes every connector in sentences that no other connector has', () => {
    for (const { slug, description, notes, tested } of connectors) {
      for (const sentences of [description, notes, tested].filter((text) => text !== undefined)) {
        assert.match(sentences, /^\p{Lu}.*\.$/u, `${slug}: ${sentences}`)
      }
    }
    const plain = (sentence: string) =>
      sentence
        .toLowerCase()
        .replace(/[^\p{L}\p{N}]+/gu, ' ')
        .trim()
    assert.equal(new Set(connectors.map(({ description }) => plain(description))).size, connectors.length)
  })

  test('says what to have ready for every platform at which a user grants access', () => {
    const signsIn = ({ authorization, secrets }: Connector) =>
      authorization !== undefined || (secrets.authType?.options?.includes('oauth2') ?? false)
    const lacking = listedConnectors.filter((one) => signsIn(one) && (one.platform.prepare ?? []).length < 2)
    assert.deepEqual(
      lacking.map(({ slug }) => slug),
      [],
    )
    for (const { slug, platform } of connectors) {
      for (const sentence of platform.prepare ?? []) assert.match(sentence, /^\p{Lu}.*\.$/u, `${slug}: ${sentence}`)
    }
  })

  test('labels and describes every field, and describes every column', () => {
    for (const connector of connectors) {
      for (const group of groupsOf(connector)) {
        for (const [key, { label, description }] of Object.entries(group)) {
          assert.match(key, /^[a-z][A-Za-z0-9]*$/, connector.slug)
          for (const phrase of [label, description]) {
            assert.match(phrase, /^\S(.*[^\s.])?$/, `${connector.slug}: ${key}: ${phrase}`)
          }
        }
      }
      for (const { records } of sidesOf(connector)) {
        for (const [name, { description }] of Object.entries(records ?? {})) {
          assert.match(description, /^\S(.*[^\s.])?$/, `${connector.slug}: ${name}: ${description}`)
        }
      }
    }
  })

  test('labels have at most four words, and help texts fit in a line', () => {
    const fields = new Map(
      connectors.flatMap(({ slug, ...connector }) =>
        groupsOf({ slug, ...connector }).flatMap((group) =>
          Object.entries(group).map(
            ([key, field]) => [field.description, { name: `${slug}.${key}`, ...field }] as const,
          ),
        ),
      ),
    )
    const wordy = [...fields.values()].filter(({ label }) => label.split(' ').length > 4)
    assert.deepEqual(
      wordy.map(({ name, label }) => `${name}: ${label}`),
      [],
    )
    // Longer explanations belong in the guides. This number must only fall.
    const long = [...fields.keys()].filter((description) => description.length > 90)
    assert(long.length <= 86, `${long.length} help texts have more than 90 characters`)
  })

  test('calls an account in the label what the help text calls it', () => {
    const others = connectors.flatMap(({ slug, ...connector }) =>
      groupsOf({ slug, ...connector }).flatMap((group) =>
        Object.values(group).flatMap(({ label, description }) => {
          const [, called = ''] =
            /^(?:ID|Number) of (?:the|your) (?:[A-Z]\w+ )*(ad account|advertiser|partner|profile|pixel|project)\b/.exec(
              description,
            ) ?? []
          const [last = ''] = called.split(' ').slice(-1)
          return label.toLowerCase().includes(last) ? [] : [`${slug}: ${label} | ${description}`]
        }),
      ),
    )
    assert.deepEqual(others, [])
  })

  test('keeps every field that sounds like a password as a secret', () => {
    const sounds = /password|passphrase|secret|private_?key|token|api_?key|access_?key|json_?key|sas_?url|credential/i
    const harmless = /Id$|(?<!^sas)Url$|Name$|Type$/
    for (const connector of connectors) {
      for (const [key, { type }] of groupsOf(connector).flatMap((group) => Object.entries(group))) {
        if (!sounds.test(key) || harmless.test(key)) continue
        assert.equal(type, 'Password', `${connector.slug}: ${key}`)
      }
    }
  })

  test('protects the server that the identity of a sub-account signs in to, like a secret', () => {
    const keyless = connectors.filter(({ secrets }) => Object.values(secrets).some(({ identity }) => identity))
    assert(keyless.length > 10)
    for (const { slug, secrets } of keyless) {
      const ways = Object.values(secrets).flatMap(({ identity, when }) =>
        identity === 'subject' ? [when?.authType ?? []].flat() : [],
      )
      for (const [key, { binds, when, identity }] of Object.entries(secrets)) {
        const isUsed = when?.authType === undefined || [when.authType].flat().some((way) => ways.includes(way))
        if (binds && isUsed) assert.equal(identity, 'target', `${slug}.${key}`)
      }
    }
  })

  test('bounds every number from below', () => {
    for (const connector of connectors) {
      for (const [key, { type, min }] of groupsOf(connector).flatMap((group) => Object.entries(group))) {
        if (type === 'Number') assert.ok(min !== undefined && min >= 0, `${connector.slug}: ${key}`)
      }
    }
  })

  test('says that data can be moved through a connector in the roles that there is code for, with a check', () => {
    for (const connector of connectors) {
      const { slug, integrated, source, destination, check, tested } = connector
      assert.deepEqual(
        [movesIn(connector, 'Source'), movesIn(connector, 'Destination')],
        [Boolean(source?.open), Boolean(destination?.deliver)],
        slug,
      )
      assert.equal(integrated, Boolean(source?.open ?? destination?.deliver), slug)
      if (!integrated) continue
      assert.ok(check, `${slug} lacks a check`)
      assert.ok(tested, `${slug} does not say what it was tested against`)
    }
  })

  test('names the versions of the servers and clients from npm that the tests use', async () => {
    const { devDependencies } = JSON.parse(await readFile(new URL('../../../package.json', import.meta.url), 'utf8'))
    const clients = ['@aws-sdk/client-s3', '@clickhouse/client', '@google-cloud/bigquery', '@google-cloud/storage']
    for (const server of ['azurite', 'fauxqs', ...clients]) {
      const named = connectors.flatMap(
        ({ tested }) => new RegExp(`${server} ([\\d.]+\\d)`).exec(tested ?? '')?.[1] ?? [],
      )
      assert.deepEqual([...new Set(named)], [devDependencies[server]])
    }
  })

  test('knows the form of every value that it hashes, since an unnormalised digest matches no one', () => {
    for (const { slug, destination } of connectors) {
      for (const [name, { hashed, normalise, identifiers }] of Object.entries(destination?.records ?? {})) {
        if (!hashed) continue
        assert.ok(normalise, `${slug}: ${name} is hashed and has no form`)
        assert.equal(identifiers, undefined, `${slug}: ${name} is a list, and only single values are hashed`)
      }
    }
  })

  test('refuses two connectors with one slug or name, and two definitions of one platform', () => {
    const platform = definePlatform({ slug: 'acme', name: 'Acme', type: 'Data Provider' })
    const make = (slug: string, name: string, of: Platform) =>
      defineConnector({
        slug,
        name,
        platform: of,
        dataType: 'audiences',
        dataTypeCategory: 'audience activation',
        description: 'Delivers to Acme.',
        secrets: {},
        destination: {},
      })
    const first = make('acme-a', 'A', platform)
    assert.throws(() => makeCatalogue([first, make('acme-a', 'B', platform)]), /have the slug acme-a$/)
    assert.throws(() => makeCatalogue([first, make('acme-b', 'A', platform)]), /have the name A$/)
    assert.throws(() => makeCatalogue([first, make('acme-b', 'B', { ...platform })]), /acme is defined twice/)
    assert.deepEqual(makeCatalogue([make('acme-b', 'B', platform), first]).connectors[0], first)
  })
})

describe('logoOf', () => {
  const platform: Platform = { slug: 'acme', name: 'Acme', type: 'Data Provider' }

  test('draws a well-formed SVG with the name of the platform as its title, for every platform', () => {
    for (const each of platforms) {
      const svg = logoOf(each)
      assert.equal(titleOf(svg), each.name)
      assert.match(svg, /^<svg [^>]*viewBox="0 0 24 24" role="img">/)
      assert.equal(svg.includes('<path '), each.icon !== undefined)
      assert.doesNotMatch(svg, /url\(|href|@import|<script|<style/)
    }
  })

  test('escapes whatever a name has that XML would misread', () => {
    for (const name of ['Meal & Grain', '<script>alert(1)</script>', '>"\'&amp;', '&', '磨坊 & Söhne']) {
      assert.equal(titleOf(logoOf({ ...platform, name })), name)
      assert.equal(titleOf(logoOf({ ...platform, name, icon: 'dropbox' })), name)
    }
  })

  test('draws one or two initials where there is no icon', () => {
    const initialsOf = (name: string) => />([^<]*)<\/text>/.exec(logoOf({ ...platform, name }))?.[1]
    const initials = { Acme: 'A', 'Acme Retail': 'AR', LiveRamp: 'LR', mParticle: 'MP', SFTP: 'S', 'Amazon S3': 'AS' }
    for (const [name, wanted] of Object.entries(initials)) assert.equal(initialsOf(name), wanted)
    assert.equal(initialsOf('The Trade Desk'), 'TD')
    assert.equal(initialsOf('Display & Video 360'), 'DV')
    assert.equal(initialsOf('& <>'), 'A')
  })

  test('colours a monogram by the slug alone, and platforms not all alike', () => {
    const backgroundOf = (of: Platform) => /<rect [^>]*fill="(#[0-9a-f]{6})"/.exec(logoOf(of))?.[1]
    assert.equal(backgroundOf({ ...platform, name: 'Other' }), backgroundOf(platform))
    assert.ok(new Set(platforms.filter(({ icon }) => !icon).map(backgroundOf)).size > 5)
  })

  test('draws on the colour of the brand where there is an icon, in ink that stands out', () => {
    const svg = logoOf({ ...platform, icon: 'dropbox' })
    assert.match(svg, /<rect [^>]*fill="#0061ff"\/><path [^>]*fill="#ffffff"/)
    assert.match(logoOf({ ...platform, icon: 'snapchat' }), /<rect [^>]*fill="#fffc00"\/><path [^>]*fill="#111111"/)
  })

  test('draws the icon of every platform that simple-icons has', () => {
    const listed = new URL(import.meta.resolve('simple-icons/icons.json'))
    const icons: { title: string }[] = JSON.parse(readFileSync(listed, 'utf8'))
    const titles = new Set(icons.map(({ title }) => title.toLowerCase()))
    const missed = platforms.filter(({ icon, name }) => !icon && titles.has(name.toLowerCase()))
    assert.deepEqual(missed, [])
  })

  test('refuses an icon that simple-icons does not have', () => {
    assert.throws(() => logoOf({ ...platform, icon: 'no-such-brand' }), /no icon no-such-brand/)
  })
})

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const unescapeXml = (text: string) => text.replace(/&(\w+);/g, (_, name: string) => entities[name] ?? '')

/** Reads the document as strictly as XML demands of what a logo uses, and returns the text of its only title. */
function titleOf(svg: string): string {
  const attributes = String.raw`(?:\s+[a-zA-Z-]+="(?:[^<&"]|&(?:amp|lt|gt|quot|apos);)*")*`
  const token = new RegExp(
    `<(?<close>/)?(?<name>[a-z]+)(?<attributes>${attributes})(?<empty>/)?>|(?<text>(?:[^<>&]|&(?:amp|lt|gt|quot|apos);)+)`,
    'gy',
  )
  const open: string[] = []
  const titles: string[] = []
  while (token.lastIndex < svg.length) {
    const at = token.lastIndex
    const found = token.exec(svg)?.groups
    assert.ok(found, `not well-formed at ${svg.slice(at, at + 40)}`)
    const { close, name, empty, text } = found
    if (text !== undefined) {
      assert.ok(open.length > 0, 'text outside of the root')
      if (open.at(-1) === 'title') titles.push(unescapeXml(text))
    } else if (close) {
      assert.equal(name, open.pop())
    } else if (name !== undefined) {
      assert.ok(open.length > 0 || at === 0, 'a second root')
      const names = [...(found.attributes ?? '').matchAll(/\s([a-zA-Z-]+)=/g)].map(([, attribute]) => attribute)
      assert.equal(new Set(names).size, names.length, 'an attribute twice')
      if (!empty) open.push(name)
    }
  }
  assert.deepEqual(open, [])
  assert.equal(titles.length, 1)
  return titles[0] ?? ''
}
