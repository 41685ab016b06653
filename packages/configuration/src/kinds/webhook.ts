import { CreateWebhook, type EventType, type Webhook } from '@penstock/wire'
import { persistently } from '../calls.ts'
import { escaped } from '../export-names.ts'
import { ChangedMeanwhile } from '../failures.ts'
import { readAll } from '../read-all.ts'
import type { Applying, Change, Entry, ResourceKind } from '../resource-kind.ts'
import { id, type JsonSchema, list, object, of } from '../schema-parts.ts'
import { type FieldChange, isSame } from '../values.ts'
import { writeUnchanged } from '../writes.ts'

type FileWebhook = {
  url: string
  was?: string[]
  id?: string
  description?: string
  eventTypes?: EventType[]
  enabled?: boolean
}
type DesiredWebhook = Entry & {
  /** The address with its references. */
  readonly written: string
  readonly description: string
  readonly eventTypes: EventType[] | null
  readonly enabled?: boolean | undefined
}
type Content = Pick<Webhook, 'url' | 'description' | 'eventTypes' | 'enabled'>
type Own = { readonly saves?: Content | undefined }

/** An address as the service stores it. */
const normal = (url: string) => (URL.canParse(url.trim()) ? new URL(url.trim()).href : url.trim())

const sorted = (types: Webhook['eventTypes']) => types?.toSorted() ?? null

/** The differences between two webhooks, but for the order of their types. */
const differences = (from: Content, to: Content): (keyof Content)[] =>
  (['url', 'description', 'eventTypes', 'enabled'] as const).filter((key) =>
    key === 'eventTypes' ? !isSame(sorted(from[key]), sorted(to[key])) : from[key] !== to[key],
  )

const bodyOf = (saves: Content) => ({ ...saves, eventTypes: saves.eventTypes && [...saves.eventTypes] })

/** A value that can be null in a request is omitted in a file. */
const orLeftOut = (schema: JsonSchema): JsonSchema => (schema.anyOf as JsonSchema[])[0] as JsonSchema

/**
 * Webhooks, which are identified by their addresses. A webhook that the service disabled is enabled again only together with a
 * change that may have repaired it.
 */
export const webhook: ResourceKind<'webhooks', FileWebhook, DesiredWebhook, Webhook, Own> = {
  kind: 'webhook',
  title: 'webhook',
  list: 'webhooks',
  plural: 'Webhooks',
  key: 'url',
  ofOrganization: true,
  destroyedBy: 'allowDestroy',
  nameOf: ({ url }) => url,
  identifierOf: ({ id }) => id,
  audited: { action: 'updateWebhook', key: 'url' },
  schema() {
    // An address in a file can have references.
    const { pattern: _, ...url } = of(CreateWebhook, 'url')
    return object(
      ['url'],
      {
        url: {
          ...url,
          description: 'Address that events are posted to. It identifies the webhook, and can contain references',
        },
        was: { ...list(url, 'Previous addresses'), maxItems: 100 },
        id,
        description: of(CreateWebhook, 'description'),
        eventTypes: {
          ...orLeftOut(of(CreateWebhook, 'eventTypes')),
          description: 'Types of events that it receives. Omitted: all, including later ones',
        },
        enabled: { ...of(CreateWebhook, 'enabled'), description: 'Whether events are sent to it. Omitted: no change' },
      },
      'A webhook. The service creates its signing secret, which is in no file',
    )
  },
  parse: ({ url, was = [], id, description = '', eventTypes = null, enabled }, at) => {
    return { name: url.trim(), written: url.trim(), was, id, description, eventTypes, enabled, at }
  },
  write: ({ url, description, eventTypes, enabled, disabledReason }, twin) => ({
    url: String(escaped(url)),
    ...twin,
    ...(description === '' ? {} : { description }),
    ...(eventTypes === null ? {} : { eventTypes: eventTypes.toSorted() }),
    // A webhook that the service disabled had been enabled by a person.
    enabled: enabled || disabledReason !== null,
  }),
  read: (client, accountId) => readAll(client, 'listWebhooks', accountId),
  async resolve(entry, { resolver, problems }) {
    const [url, ...was] = await Promise.all(
      [entry.name, ...entry.was].map((text, index) =>
        resolver.resolve(text, index === 0 ? entry.at('url') : entry.at('was', index - 1), problems),
      ),
    )
    if (url === undefined || was.includes(undefined)) return undefined
    return { ...entry, name: normal(url), was: was.map((one) => normal(one ?? '')) }
  },
  diff({ name: url, written, description, eventTypes, ...entry }, existing, { account }, { notes }) {
    const enabled = entry.enabled ?? (existing ? existing.enabled || existing.disabledReason !== null : true)
    let saves: Content = { url, description, eventTypes, enabled }
    if (!existing) {
      const note = `The service creates the signing secret of a new webhook ${account === null ? '' : `of the sub-account ${account} `}and returns it once. Apply with --webhook-secrets FILE to save it, or rotate it afterwards.`
      if (!notes.includes(note)) notes.push(note)
      const fields: FieldChange[] = [
        ...(description === '' ? [] : [{ field: 'description', to: description }]),
        ...(eventTypes === null ? [] : [{ field: 'eventTypes', to: eventTypes }]),
        ...(enabled ? [] : [{ field: 'enabled', to: false }]),
      ]
      return { fields, saves }
    }
    if (existing.disabledReason !== null && enabled && isSame(differences(existing, saves), ['enabled'])) {
      notes.push(
        `The service disabled the webhook ${written} (${existing.disabledReason}). Enable it in the console when its receiver works.`,
      )
      saves = { ...saves, enabled: false }
    }
    const fields = differences(existing, saves).map((field) => ({
      field,
      from: existing[field],
      to: field === 'url' ? written : saves[field],
    }))
    return { fields, saves }
  },
  // Removals come first, so that the number of webhooks stays below the limit.
  remove: {
    stage: 'webhooks',
    async run({ existing }, { client }) {
      if (!existing) return
      const { id } = existing
      const write = (ifMatch: string | undefined) => client.deleteWebhook({ id, ifMatch })
      await writeUnchanged<Content>({
        existing,
        wanted: null,
        differences,
        read: () => client.getWebhook({ id }),
        write,
      })
    },
  },
  update: {
    stage: 'webhooks',
    async run({ existing, saves }, { client }) {
      if (!existing || !saves) return
      const { id } = existing
      const write = (ifMatch: string | undefined) => client.updateWebhook({ id, body: bodyOf(saves), ifMatch })
      await writeUnchanged<Content>({
        existing,
        wanted: saves,
        differences,
        read: () => client.getWebhook({ id }),
        write,
      })
    },
  },
  create: { stage: 'webhooks', run: create },
}

/**
 * Creates a webhook once. Its creation cannot use an idempotency key, because its answer contains a secret that the service does
 * not store. So the list is read before each attempt, and afterwards. Of webhooks that were created concurrently, the first one
 * (the last in the list) stays.
 */
async function create(
  { saves, account, name }: Change<DesiredWebhook, Webhook, Own>,
  { client, accountIds, onSecret }: Applying,
): Promise<void> {
  const accountId = account === null ? null : accountIds.get(account)
  if (!saves || accountId === undefined) return
  const ofUrl = async () =>
    (await readAll(client, 'listWebhooks', accountId ?? undefined)).filter(
      (one) => one.accountId === accountId && one.url === saves.url,
    )
  const made = await persistently(async () => {
    if ((await ofUrl()).length > 0) return undefined
    return (await client.createWebhook({ body: { ...bodyOf(saves), accountId } })).reply
  })
  const first = (await ofUrl()).at(-1)
  if (made && first?.id === made.id) {
    await onSecret?.({ account, url: saves.url, id: made.id, secret: made.secret })
    return
  }
  if (made) await persistently(() => client.deleteWebhook({ id: made.id }))
  if (!first || differences(first, saves).length > 0) throw new ChangedMeanwhile([{ field: name }])
}
