import { createHash } from 'node:crypto'
import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'
import { coded, tiktokSecrets } from './tiktok-server.ts'

/**
 * The part of TikTok's API for Business that audiences use, as strict as it is known to be: the trailing slash of every
 * path, codes in an answer of 200, one slot for each kind of identifier, digests, files with their MD5 and kind, names.
 */

type Audience = { audience_id: string; name: string; audience_type: string; calculate_type: string; shared: boolean }

export type TikTokAudienceServer = PlatformServer & {
  readonly audiences: Audience[]
  /** Members of audiences, as `audience kind identifier`. */
  readonly members: Set<string>
  readonly behaviour: {
    /** The advertisers that the token is for. */
    advertisers: string[]
    pageSize: number
  }
}

export const tiktokAudienceSecrets = { clientId: '7100', clientSecret: 'tiktok-app-secret', ...tiktokSecrets }
export const advertiser = '6900000000000000001'
/** A digest that is refused, and all that comes with it. */
export const refusedDigest = 'f'.repeat(64)
const fileTypes = ['EMAIL_SHA256', 'PHONE_SHA256', 'MAID_SHA256', 'MULTIPLE_TYPES']

export async function startTikTokAudiences(): Promise<TikTokAudienceServer> {
  const audiences: Audience[] = []
  const members = new Set<string>()
  const files = new Map<string, { type: string; entries: string[] }>()
  const behaviour = { advertisers: [advertiser], pageSize: 100 }

  const make = (name: string, audience_type: string, calculate_type: string): Audience => {
    const audience_id = String(7_000_000_000_000_000_000n + BigInt(audiences.length + 1))
    const audience = { audience_id, name, audience_type, calculate_type, shared: false }
    audiences.push(audience)
    return audience
  }

  function answer(received: Received): Reply {
    const { method, path, headers, query } = received
    if (!path.startsWith('/open_api/v1.3/') || !path.endsWith('/')) return { status: 404, text: '404 page not found' }
    if (!headers['access-token']) return coded(40104)
    if (headers['access-token'] !== tiktokSecrets.accessToken) return coded(40105)
    const body = (received.json ?? {}) as Record<string, unknown>
    switch (`${method} ${path.slice('/open_api/v1.3'.length)}`) {
      case 'GET /user/info/':
        return coded(0, { core_user_id: 1, display_name: 'Acme' })
      case 'GET /oauth2/advertiser/get/': {
        const isApp = query.get('app_id') === '7100' && query.get('secret') === 'tiktok-app-secret'
        if (!isApp) return coded(40110)
        return coded(0, { list: behaviour.advertisers.map((id) => ({ advertiser_id: id, advertiser_name: 'Acme' })) })
      }
      case 'GET /dmp/custom_audience/list/':
        return list(query)
      case 'POST /segment/audience/':
        return createSegment(body)
      case 'POST /segment/mapping/':
        return mapSegment(body)
      case 'POST /dmp/custom_audience/file/upload/':
        return upload(received)
      case 'POST /dmp/custom_audience/create/':
        return createFromFiles(body)
      case 'POST /dmp/custom_audience/update/':
        return update(body)
      default:
        return { status: 404, text: '404 page not found' }
    }
  }

  const owns = (id: unknown): boolean => behaviour.advertisers.includes(String(id))
  const isName = (name: unknown): name is string => typeof name === 'string' && name.length > 0 && name.length <= 128
  const has = (body: Record<string, unknown>, ...keys: string[]): boolean =>
    Object.keys(body).every((key) => keys.includes(key)) && keys.every((key) => key in body)

  function list(query: URLSearchParams): Reply {
    if (!owns(query.get('advertiser_id'))) return coded(40001)
    const ids = query.get('custom_audience_ids')
    if (ids !== null) {
      const found = audiences.filter(({ audience_id }) => (JSON.parse(ids) as string[]).includes(audience_id))
      return found.length > 0 ? coded(0, { list: found, page_info: { page: 1, total_page: 1 } }) : coded(40002)
    }
    const page = Number(query.get('page'))
    const size = Math.min(Number(query.get('page_size')), behaviour.pageSize)
    if (!(page >= 1) || !(size >= 1 && size <= 100)) return coded(40002)
    const total_page = Math.max(1, Math.ceil(audiences.length / size))
    return coded(0, { list: audiences.slice((page - 1) * size, page * size), page_info: { page, total_page } })
  }

  function createSegment(body: Record<string, unknown>): Reply {
    if (!has(body, 'custom_audience_name', 'advertiser_id', 'action') || body.action !== 'create') return coded(40002)
    if (!owns(body.advertiser_id)) return coded(40001)
    if (!isName(body.custom_audience_name)) return coded(40002)
    const { audience_id } = make(body.custom_audience_name, 'Partner Audience', 'MULTIPLE_TYPES')
    return coded(0, { audience_id })
  }

  function mapSegment(body: Record<string, unknown>): Reply {
    const { advertiser_ids: ids, action, id_schema: schema, batch_data: data } = body
    if (!has(body, 'advertiser_ids', 'action', 'id_schema', 'batch_data')) return coded(40002)
    if (!Array.isArray(ids) || ids.length !== 1 || !owns(ids[0])) return coded(40001)
    if (
      !Array.isArray(schema) ||
      !schema.every((kind) => /^(EMAIL|PHONE|IDFA|AAID)_SHA256$|^(IDFA|AAID)_MD5$/.test(kind))
    )
      return coded(40002)
    if (!Array.isArray(data) || data.length === 0 || data.length > 10_000) return coded(40002)
    if (action !== 'add' && action !== 'delete') return coded(40002)
    const changed: string[] = []
    for (const slots of data) {
      if (!Array.isArray(slots) || slots.length !== schema.length) return coded(40002)
      if (slots.every((slot) => Object.keys(slot).length === 0)) return coded(40002)
      for (const [at, slot] of slots.entries()) {
        if (Object.keys(slot).length === 0) continue
        const isDigest = new RegExp(`^[0-9a-f]{${schema[at].endsWith('MD5') ? 32 : 64}}$`).test(slot.id)
        const [audience] = Array.isArray(slot.audience_ids) ? slot.audience_ids : []
        const found = audiences.find(
          ({ audience_id, audience_type }) => audience_id === audience && /Partner/.test(audience_type),
        )
        if (!has(slot, 'id', 'audience_ids') || !isDigest || !found || slot.id === refusedDigest) return coded(40002)
        changed.push(`${audience} ${schema[at]} ${slot.id}`)
      }
    }
    for (const member of changed)
      if (action === 'add') members.add(member)
      else members.delete(member)
    return coded(0)
  }

  function upload({ headers, text }: Received): Reply {
    const boundary = /^multipart\/form-data; boundary=(.+)$/.exec(headers['content-type'] ?? '')?.[1]
    if (!boundary) return coded(40002)
    const form = new Map<string, { content: string; fileName: string | undefined }>()
    for (const part of text.split(`--${boundary}`).slice(1, -1)) {
      const [, head = '', content = ''] = /^\r\n(.*?)\r\n\r\n(.*)\r\n$/s.exec(part) ?? []
      const [, name = '', fileName] = /name="([^"]*)"(?:; filename="([^"]*)")?/.exec(head) ?? []
      form.set(name, { content, fileName })
    }
    const file = form.get('file')
    const type = form.get('calculate_type')?.content ?? ''
    if (!owns(form.get('advertiser_id')?.content)) return coded(40001)
    if (!file || !/\.(csv|txt)$/.test(file.fileName ?? '') || !fileTypes.includes(type)) return coded(40002)
    if (form.get('file_signature')?.content !== createHash('md5').update(file.content).digest('hex'))
      return coded(40900)
    const entries = entriesOf(type, file.content)
    if (!entries) return coded(40909)
    const path = `${advertiser}/${files.size + 1}`
    files.set(path, { type, entries })
    return coded(0, { file_path: path })
  }

  function entriesOf(type: string, content: string): string[] | undefined {
    const lines = content.split('\n')
    if (lines.pop() !== '') return undefined
    if (type !== 'MULTIPLE_TYPES') {
      return lines.every((line) => /^[0-9a-f]{64}$/.test(line)) ? lines.map((line) => `${type} ${line}`) : undefined
    }
    const header = lines.shift()?.split(',') ?? []
    if (!header.every((name) => ['email_SHA256', 'phone_SHA256', 'MAID'].includes(name))) return undefined
    const entries: string[] = []
    for (const line of lines) {
      const cells = line.split(',')
      if (cells.length !== header.length || cells.every((cell) => cell === '')) return undefined
      for (const [at, cell] of cells.entries()) {
        const form = header[at] === 'MAID' ? /^[0-9a-f-]{36}$/ : /^[0-9a-f]{64}$/
        if (cell !== '' && !form.test(cell)) return undefined
        if (cell !== '') entries.push(`${header[at]} ${cell}`)
      }
    }
    return entries
  }

  function filesOf(paths: unknown, type: string): string[] | undefined {
    if (!Array.isArray(paths) || paths.length === 0 || paths.length >= 50) return undefined
    const found = paths.map((path) => files.get(path))
    return found.every((file) => file?.type === type) ? found.flatMap((file) => file?.entries ?? []) : undefined
  }

  function createFromFiles(body: Record<string, unknown>): Reply {
    if (!has(body, 'advertiser_id', 'custom_audience_name', 'calculate_type', 'file_paths')) return coded(40002)
    if (!owns(body.advertiser_id)) return coded(40001)
    const entries = filesOf(body.file_paths, String(body.calculate_type))
    if (!entries || !isName(body.custom_audience_name)) return coded(40002)
    const { audience_id } = make(body.custom_audience_name, 'Customer File', String(body.calculate_type))
    for (const entry of entries) members.add(`${audience_id} ${entry}`)
    return coded(0, { custom_audience_id: audience_id })
  }

  function update(body: Record<string, unknown>): Reply {
    if (!has(body, 'advertiser_id', 'custom_audience_id', 'action', 'file_paths')) return coded(40002)
    if (!owns(body.advertiser_id)) return coded(40001)
    const audience = audiences.find(({ audience_id }) => audience_id === body.custom_audience_id)
    const entries = filesOf(body.file_paths, audience?.calculate_type ?? '')
    if (!audience || !entries || (body.action !== 'APPEND' && body.action !== 'REMOVE')) return coded(40002)
    for (const entry of entries) {
      const member = `${audience.audience_id} ${entry}`
      if (body.action === 'APPEND') members.add(member)
      else members.delete(member)
    }
    return coded(0)
  }

  const server = await startPlatform(answer)
  return Object.assign(server, { audiences, members, behaviour })
}
