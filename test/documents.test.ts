import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import {
  type Connector,
  defineConnector,
  definePlatform,
  multiSelect,
  number,
  secret,
  select,
  text,
} from '@penstock/connector'
import { connectors, listedConnectors, platforms } from '@penstock/connectors'
import { errors } from '@penstock/wire'
import { openApiDocument } from '@penstock/wire/openapi'
import type { FastifyInstance } from 'fastify'
import { createCatalogue } from '../packages/server/src/connectors/catalogue.ts'
import { platformPage } from '../packages/server/src/documents/catalogue-pages.ts'
import { connectorPage } from '../packages/server/src/documents/connector-page.ts'
import { guideSlugs, movedGuides, readGuide } from '../packages/server/src/documents/guide-files.ts'
import { createLinks } from '../packages/server/src/documents/links.ts'
import { generatedDocuments } from '../packages/server/src/generated-documents.ts'
import { createApp } from '../packages/server/src/http/app.ts'
import { serveDocuments } from '../packages/server/src/http/documents.ts'
import { createLogger } from '../packages/server/src/log.ts'
import { toolSets } from '../packages/server/src/mcp/tool-sets.ts'

const prefix = '/penstock'
const publicUrl = `https://data.example.org${prefix}`

let app: FastifyInstance
before(async () => {
  const made = await createApp({
    log: createLogger('silent'),
    publicUrl: 'http://penstock.test',
    corsOrigins: [],
    trustedProxies: [],
  })
  app = made.app
  serveDocuments(app, publicUrl, createCatalogue(publicUrl))
})
after(() => app.close())

async function get(url: string, headers: Record<string, string> = {}) {
  const { statusCode, headers: answered, payload } = await app.inject({ url, headers })
  const header = (name: string) => String(answered[name] ?? '')
  return { status: statusCode, header, text: payload, type: header('content-type') }
}

async function getPage(url: string): Promise<string> {
  const { status, type, text } = await get(url)
  assert.equal(status, 200, url)
  assert.equal(type, 'text/html; charset=utf-8')
  assertWellFormed(text)
  return text
}

const empty = new Set(['meta', 'link', 'img', 'br', 'hr', 'input'])

/** Every element is closed in its turn, and the text has no stray `<` or `&`. */
function assertWellFormed(markup: string): void {
  const open: string[] = []
  const tag = /<!doctype html>|<(\/?)([a-z][a-z0-9]*)((?: [a-z-]+(?:="[^"<>]*")?)*)(\/?)>/gi
  for (const [, closing, name, , closed] of markup.matchAll(tag)) {
    if (name === undefined || empty.has(name) || closed) continue
    if (closing) assert.equal(open.pop(), name, `</${name}> closes another element`)
    else open.push(name)
  }
  assert.deepEqual(open, [], 'elements are left open')
  const between = markup.replaceAll(tag, '')
  assert.doesNotMatch(between, /[<>]|&(?!(?:amp|lt|gt|quot|apos|#39);)/)
}

/** Addresses that a page loads: stylesheets, scripts and pictures. */
const loadedBy = (page: string) =>
  [...page.matchAll(/<(?:link|script|img|iframe)\b[^>]*?\s(?:src|href)="([^"]*)"/g)].map(([, address = '']) => address)
const linksOf = (page: string) => [...page.matchAll(/<a\b[^>]*?\shref="([^"]*)"/g)].map(([, address = '']) => address)
const escaped = (plain: string) =>
  [...plain]
    .map(
      (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[character] ?? character,
    )
    .join('')

describe('the pages of the catalogue', () => {
  test('have all fields and columns of every connector', async () => {
    for (const connector of connectors) {
      const page = await getPage(`/docs/connectors/${connector.slug}`)
      const { secrets, source, destination } = connector
      const reported = [
        connector.name,
        connector.description,
        connector.id,
        connector.dataType,
        connector.platform.name,
        ...[secrets, source?.fields, destination?.fields].flatMap((fields) =>
          Object.entries(fields ?? {}).flatMap(([key, field]) => [key, field.label, ...(field.options ?? [])]),
        ),
        ...Object.keys({ ...source?.records, ...destination?.records }),
      ]
      for (const what of reported) assert.ok(page.includes(escaped(what)), `${connector.slug} does not show ${what}`)
      assert.equal(page.includes('In preview'), connector.status === 'preview', connector.slug)
      const { withdrawn } = connector
      if (withdrawn) assert.ok(page.includes(escaped(`${withdrawn.why} ${withdrawn.instead}`)), connector.slug)
      const moves = `<dt>Data moves</dt><dd>${connector.integrated ? 'yes' : withdrawn ? 'no' : 'not yet'}</dd>`
      assert.ok(page.includes(moves), `${connector.slug} does not say whether data moves`)
      const { tested } = connector
      const testServers = tested && `<dt>Tested against</dt><dd>${escaped(tested)}</dd>`
      assert.equal(page.includes(testServers ?? 'Tested against'), tested !== undefined, connector.slug)
    }
  })

  test('list the connectors of every platform', async () => {
    for (const platform of platforms) {
      const own = connectors.filter((connector) => connector.platform === platform)
      const listed = linksOf(await getPage(`/docs/platforms/${platform.slug}`))
      for (const { slug } of own) assert.ok(listed.includes(`${prefix}/docs/connectors/${slug}`), slug)
    }
    const index = linksOf(await getPage('/docs/connectors'))
    for (const { slug, status, platform } of connectors) {
      assert.equal(index.includes(`${prefix}/docs/connectors/${slug}`), status !== 'withdrawn', slug)
      const has = listedConnectors.some((connector) => connector.platform === platform)
      assert.equal(index.includes(`${prefix}/docs/platforms/${platform.slug}`), has, platform.slug)
    }
  })

  test('say when a field is needed, and what it takes', async () => {
    const page = await getPage('/docs/connectors/snowflake-source')
    assert.match(page, /Yes, where Data source type is Table Reference/)
    assert.match(page, /The service fills it/)
    assert.match(page, /Number, 1 or more/)
    const columns = await getPage('/docs/connectors/meta-custom-audiences')
    assert.match(columns, /At least one of these in every row:/)
    assert.match(columns, /Hashed with: SHA-256/)
  })

  test('lead nowhere that is not there, and load nothing from elsewhere', async () => {
    const todo = ['/docs', '/docs/connectors', '/docs/guides']
    const seen = new Set(todo)
    for (let page = todo.pop(); page !== undefined; page = todo.pop()) {
      const { status, text, type, header } = await get(page)
      assert.equal(status, 200, page)
      if (!type.startsWith('text/html')) continue
      assert.match(header('content-security-policy'), /^default-src '(?:none|self)';/)
      for (const address of [...loadedBy(text), ...linksOf(text)]) {
        if (address.startsWith('#') || (page.startsWith('/docs/guides/') && address.startsWith('https://'))) continue
        assert.ok(address.startsWith(`${prefix}/`), `${page} names ${address}`)
        const path = address.slice(prefix.length).replace(/#.*/, '')
        if (!seen.has(path)) todo.push(path)
        seen.add(path)
      }
    }
    assert.ok(seen.size > connectors.length + platforms.length * 2, `only ${seen.size} addresses were found`)
  })

  test('answer an unknown slug as any unknown address', async () => {
    for (const url of ['/docs/connectors/nope', '/docs/platforms/nope', '/logos/nope.svg', '/logos/meta-ads.png']) {
      const { status, text, header } = await get(url)
      const { statusCode, response } = JSON.parse(text)
      assert.deepEqual([status, statusCode, response.error], [404, 404, 'not_found'], url)
      assert.equal(header('cache-control'), 'no-store')
    }
  })
})

describe('the guides', () => {
  test('are all documents of docs/, each with what its file says', async () => {
    const names = await readdir(new URL('../docs/', import.meta.url))
    const slugs = names.filter((name) => name.endsWith('.md')).map((name) => name.slice(0, -'.md'.length))
    assert.deepEqual(guideSlugs().sort(), slugs.sort())
    const index = await getPage('/docs/guides')
    for (const slug of slugs) {
      const link = `<a href="${prefix}/docs/guides/${slug}">`
      const entry = index.slice(index.indexOf(link), index.indexOf('</li>', index.indexOf(link)))
      assert.ok(entry.startsWith(link), slug)
      // The paragraph right after the title, and nothing from a section or a block of code.
      const wordsOf = (text: string) => text.replaceAll(/<[^>]*>|\]\([^)]*\)/g, ' ').match(/\w{3,}/g) ?? []
      const [, first = ''] = /^# .+\n\n([A-Z`][^\n]*)/m.exec(readGuide(slug).text) ?? []
      const begin = wordsOf(first).slice(0, 5)
      assert.equal(begin.length, 5, `${slug} begins with a paragraph`)
      assert.deepEqual(wordsOf(entry.slice(entry.indexOf('</h3>'))).slice(0, 5), begin, slug)
      const page = await getPage(`/docs/guides/${slug}`)
      const { title, text } = readGuide(slug)
      assert.ok(page.includes(`<h1 id="`) && page.includes(`>${title}</h1>`), slug)
      for (const [, heading = ''] of text.matchAll(/^## ([\w ,]+)$/gm))
        assert.ok(page.includes(`>${heading}</h2>`), heading)
    }
  })

  test('are searched for words, and what was typed is text', async () => {
    const search = (words: string) => getPage(`/docs/guides?q=${encodeURIComponent(words)}`)
    const found = await search('ROTATE master key')
    assert.match(found, /\d+ sections found\./)
    assert.match(found, /<mark>rotate<\/mark>/i)
    const [, address = '', id = ''] = /<h2><a href="([^"#]*)#([^"]*)">/.exec(found) ?? []
    assert.ok((await getPage(address.slice(prefix.length))).includes(` id="${id}"`), `${address}#${id}`)
    const hostile = await search('<script>alert(1)</script> "q" .*+?^$()|[]{}')
    assert.ok(!hostile.includes('<script>'))
    assert.match(hostile, /Nothing found\./)
    for (const url of [
      '/docs/guides?q=',
      '/docs/guides?q=a&q=b',
      '/docs/guides?q=%00%ff',
      `/docs/guides?q=${'a '.repeat(3_000)}`,
    ])
      assert.equal((await get(url)).status, 200, url)
  })

  test('lead from a former page to its section', async () => {
    for (const [slug, guide] of Object.entries(movedGuides)) {
      const { status, header } = await get(`/docs/guides/${slug}`)
      assert.deepEqual([status, header('location')], [308, `${prefix}/docs/guides/${guide}#${slug}`])
      assert.match(await getPage(`/docs/guides/${guide}`), new RegExp(` id="${slug}"`))
    }
  })

  test('link to sections that are there', async () => {
    const identifiers = new Map<string, Set<string>>()
    const pages = guideSlugs().map((slug) => `/docs/guides/${slug}`)
    for (const path of pages) {
      const found = [...(await getPage(path)).matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id)
      assert.equal(new Set(found).size, found.length, `${path} repeats an identifier`)
      identifiers.set(path, new Set(found))
    }
    for (const path of pages) {
      for (const address of linksOf(await getPage(path))) {
        const { origin, pathname, hash } = new URL(address, `http://here${prefix}${path}`)
        const sections = identifiers.get(pathname.slice(prefix.length))
        if (origin !== 'http://here' || hash === '' || !sections) continue
        assert.ok(sections.has(decodeURIComponent(hash.slice(1))), `${path} links to ${address}`)
      }
    }
  })
})

describe('the documents as Markdown', () => {
  const markdown = 'text/markdown; charset=utf-8'
  const addressesIn = (text: string) =>
    [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/\]\(([^)\s]+)\)/g)].map(([, address = '']) => address)
  const isHere = (address: string) => address.startsWith(`${prefix}/`)

  test('are listed by llms.txt, every guide with its first paragraph, and each is there', async () => {
    const { status, type, text } = await get('/llms.txt')
    assert.deepEqual([status, type], [200, markdown])
    assert.match(text, /^# Penstock\n\n> /)
    const listed = addressesIn(text)
    for (const slug of guideSlugs()) assert.ok(listed.includes(`${prefix}/docs/guides/${slug}.md`), slug)
    assert.doesNotMatch(text, /^- \[[^\]]+\]\([^)]+\)$/m, 'every entry says what it is')
    for (const address of listed.filter((one) => !one.endsWith('openapi.json'))) {
      const found = await get(address.slice(prefix.length))
      assert.deepEqual([found.status, found.type], [200, markdown], address)
    }
  })

  test('have links and pictures that are served, of each guide, connector and the skill', async () => {
    const places = [
      ...guideSlugs().map((slug) => `/docs/guides/${slug}`),
      ...connectors.map(({ slug }) => `/docs/connectors/${slug}`),
    ]
    const targets = new Set<string>()
    for (const path of [...places.map((place) => `${place}.md`), '/docs/skill.md', '/docs/connectors.md']) {
      const { status, type, text } = await get(path)
      assert.deepEqual([status, type], [200, markdown], path)
      for (const address of addressesIn(text)) {
        assert.match(address, /^(?:https?:\/\/|#|\/penstock\/)/, `${path}: ${address}`)
        if (isHere(address)) targets.add(address.slice(prefix.length).replace(/#.*/, ''))
      }
    }
    for (const target of targets) if (target !== '/') assert.equal((await get(target)).status, 200, target)
  })

  test('are served at the address of the page to clients that ask for Markdown, and only to them', async () => {
    for (const path of ['/docs/guides/mcp', '/docs/connectors/postgresql', '/docs/connectors']) {
      const asText = await get(path, { accept: 'text/markdown, */*;q=0.1' })
      assert.deepEqual([asText.status, asText.type], [200, markdown], path)
      assert.equal(asText.text, (await get(`${path}.md`)).text)
      for (const headers of [{}, { accept: '*/*' }, { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }]) {
        const page = await get(path, headers)
        assert.equal(page.type, 'text/html; charset=utf-8', path)
        assert.match(page.header('vary'), /\baccept\b(?!-)/)
      }
    }
    for (const path of ['/docs/guides/nothing.md', '/docs/connectors/nothing.md', '/docs/platforms/meta.md']) {
      assert.equal((await get(path)).status, 404, path)
    }
  })

  test('contain the skill, whose tools exist', async () => {
    const { text } = await get('/docs/skill.md')
    const [, name, description] = /^---\nname: (\S+)\ndescription: (.+)\n---\n/.exec(text) ?? []
    assert.equal(name, 'penstock')
    assert.ok((description?.length ?? 0) > 50 && (description?.length ?? 0) <= 1_024)
    const named = [...text.matchAll(/`([a-z]+[A-Z][A-Za-z]+)`/g)].map(([, one = '']) => one)
    const build = new Set(toolSets().get('build'))
    const others = new Set(['srcConnectionConfig', 'destConnectionConfig', 'getTransfer', 'listRejects'])
    assert.deepEqual(
      named.filter((one) => !build.has(one) && !others.has(one)),
      [],
    )
  })
})

test('every platform has a logo that browsers may keep', async () => {
  for (const { slug } of platforms) {
    const { status, type, text, header } = await get(`/logos/${slug}.svg`)
    assert.equal(status, 200, slug)
    assert.equal(type, 'image/svg+xml')
    assert.equal(header('content-security-policy'), "default-src 'none'; style-src 'unsafe-inline'")
    assert.match(header('cache-control'), /^public, max-age=\d+$/)
    assertWellFormed(text)
  }
})

describe('the API reference', () => {
  test('runs no inline script, and none from elsewhere', async () => {
    const page = await getPage('/docs')
    const policy = (await get('/docs')).header('content-security-policy')
    assert.match(policy, /(?:^|; )script-src 'self'(?:;|$)/)
    assert.match(policy, /(?:^|; )connect-src 'self' https:\/\/data\.example\.org(?:;|$)/)
    for (const [, content] of page.matchAll(/<script\b[^>]*>([^<]*)<\/script>/g)) assert.equal(content, '')
    assert.deepEqual(
      [...page.matchAll(/<script\b[^>]*\ssrc="([^"]*)"/g)].map(([, address]) => address),
      ['reference-repairs.js', 'scalar.js', 'reference.js'].map((name) => `${prefix}/docs/assets/${name}`),
    )
  })

  test('brings Scalar’s script along, and turns off all that would speak to another host', async () => {
    const script = await get('/docs/assets/scalar.js')
    assert.equal(script.status, 200)
    assert.equal(script.type, 'text/javascript; charset=utf-8')
    assert.ok(script.text.includes('createApiReference'))
    const start = (await get('/docs/assets/reference.js')).text
    const { url, withDefaultFonts, telemetry, agent, mcp, hideClientButton, persistAuth, ...rest } = JSON.parse(
      start.slice(start.indexOf('{'), start.lastIndexOf('}') + 1),
    )
    assert.equal(url, `${prefix}/es/v2/openapi.json`)
    assert.deepEqual(
      { withDefaultFonts, telemetry, agent, mcp, hideClientButton, persistAuth },
      {
        withDefaultFonts: false,
        telemetry: false,
        agent: { disabled: true },
        mcp: { disabled: true },
        hideClientButton: true,
        persistAuth: false,
      },
    )
    assert.ok(!('proxyUrl' in rest))
  })

  test('reads the contract, which needs no token and names the public address', async () => {
    const { status, type, text } = await get('/es/v2/openapi.json')
    assert.equal(status, 200)
    assert.equal(type, 'application/json; charset=utf-8')
    assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(openApiDocument(publicUrl))))
  })

  test('is found with a slash at the end as well', async () => {
    const { status, header } = await get('/docs/')
    assert.deepEqual([status, header('location')], [308, `${prefix}/docs`])
  })
})

test('what is known is not sent again, and HEAD sends the header fields alone', async () => {
  for (const url of [
    '/docs',
    '/docs/assets/style.css',
    '/docs/connectors/sftp-destination',
    '/logos/sftp.svg',
    '/es/v2/openapi.json',
  ]) {
    const { header, text } = await get(url)
    const again = await get(url, { 'if-none-match': `"another", W/${header('etag')}` })
    assert.deepEqual([again.status, again.text, again.header('etag')], [304, '', header('etag')], url)
    const other = await get(url, { 'if-none-match': '"another"' })
    assert.deepEqual([other.status, other.text === text], [200, true], url)
    const head = await app.inject({ method: 'HEAD', url })
    assert.deepEqual([head.statusCode, head.payload, head.headers.etag], [200, '', header('etag')], url)
    assert.equal(head.headers['content-length'], String(Buffer.byteLength(text)))
  }
})

describe('a definition that holds markup', () => {
  const evil = `<script>alert("1")</script> & '<img src=x onerror=y>`
  const platform = definePlatform({ slug: 'evil', name: `Platform ${evil}`, type: 'Data Provider' })
  const about = { label: `Label ${evil}`, description: `Description ${evil}` }
  const connector: Connector = defineConnector({
    slug: 'evil-audiences',
    name: `Connector ${evil}`,
    platform,
    dataType: 'audiences',
    dataTypeCategory: 'audience activation',
    description: `What it does ${evil}`,
    notes: `Notes ${evil}`,
    status: 'preview',
    secrets: { [`key ${evil}`]: secret(about), choice: select({ ...about, options: [evil], default: evil }) },
    source: {
      fields: { days: number({ ...about, min: 1, max: 9 }), many: multiSelect({ ...about, options: [evil] }) },
    },
    destination: {
      fields: { name: text({ ...about, default: evil }) },
      records: {
        [`column ${evil}`]: {
          description: evil,
          required: false,
          oneOf: evil,
          together: evil,
          values: [evil],
          identifiers: [evil],
          type: evil,
          reports: [evil],
        },
      },
    },
  })
  const links = createLinks(publicUrl)

  test('is shown as the text that it is', () => {
    for (const page of [connectorPage(links, connector), platformPage(links, platform, [connector])]) {
      assertWellFormed(page)
      assert.doesNotMatch(page, /<script|<img src=x/)
      assert.ok(page.includes(`Connector ${escaped(evil)}`))
    }
    assert.match(connectorPage(links, connector), /Number, 1 to 9/)
  })
})

describe('the generated documents', () => {
  const [contract, refusals] = generatedDocuments()

  test('hold the contract of a service as it comes, with a line for each operation', () => {
    assert.equal(contract?.path, 'docs/openapi.json')
    const expected = JSON.parse(JSON.stringify(openApiDocument('http://127.0.0.1:8080')))
    assert.deepEqual(JSON.parse(contract?.content ?? ''), expected)
    const lines = contract?.content.match(/^ {6}"(?:get|put|post|patch|delete)": \{.+\},?$/gm)
    const paths: object[] = [...Object.values<object>(expected.paths), ...Object.values<object>(expected.webhooks)]
    assert.equal(lines?.length, paths.flatMap((path) => Object.keys(path)).length)
  })

  test('explain every error code', () => {
    assert.equal(refusals?.path, 'docs/errors.md')
    for (const [code, { status, message, when }] of Object.entries(errors)) {
      const section = `### \`${code}\`\n\n> ${message}\n\n${when}\n\nAnswered by: `
      const at = refusals?.content.indexOf(section) ?? -1
      assert.ok(at > (refusals?.content.indexOf(`## ${status}\n`) ?? -1), code)
    }
    assert.doesNotMatch(refusals?.content ?? '', /Answered by: \./)
  })
})

test('the README counts the connectors as they are', async () => {
  const readme = (await readFile(new URL('../README.md', import.meta.url), 'utf8')).replaceAll('\n', ' ')
  const roles = listedConnectors.flatMap((connector) => connector.roles)
  assert.equal(/a catalogue of (\d+)/.exec(readme)?.[1], String(listedConnectors.length))
  assert.equal(/together they have (\d+) roles/.exec(readme)?.[1], String(roles.length))
})
