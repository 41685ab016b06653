import { Modal, MultiSelect, Radio, Select, Stack, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { PenstockError } from '@penstock/client'
import { type EventType, eventTypeNames, limits, type Webhook } from '@penstock/wire'
import { type FormEvent, useState } from 'react'
import { useNavigate } from 'react-router'
import { useMe } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { Failure } from '../../components/failure.tsx'
import { FormButtons } from '../../components/form-buttons.tsx'
import { notifyDone } from '../../components/notify.tsx'
import { access } from '../../strings/access.ts'
import { webhooks as say } from '../../strings/webhooks.ts'
import { WebhookSecret } from './webhook-secret.tsx'

type Errors = { url?: string | undefined; events?: string; account?: string | undefined }

/** What a test sends is sent whatever a webhook takes. */
const types = eventTypeNames.filter((type) => type !== 'webhook.test')

/** Adds a webhook and shows its secret, or changes one. */
export function WebhookForm({ webhook, onClose }: { webhook?: Webhook; onClose: () => void }) {
  const navigate = useNavigate()
  const limited = (useMe()?.accountIds ?? null) !== null
  const create = useWrite('createWebhook')
  const update = useWrite('updateWebhook')
  const [url, setUrl] = useState(webhook?.url ?? '')
  const [description, setDescription] = useState(webhook?.description ?? '')
  const [eventTypes, setEventTypes] = useState<EventType[] | null>(webhook?.eventTypes ?? null)
  const [isOfAccount, setOfAccount] = useState(limited)
  const [accountId, setAccountId] = useState<string | null>(null)
  const [errors, setErrors] = useState<Errors>({})
  const [failure, setFailure] = useState<unknown>()
  const [made, setMade] = useState<{ id: string; secret: string }>()

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setFailure(undefined)
    const found: Errors = {
      ...(eventTypes?.length === 0 && { events: say.chooseOne }),
      ...(isOfAccount && accountId === null && !webhook && { account: say.scopePlaceholder }),
    }
    setErrors(found)
    if (Object.keys(found).length > 0) return
    const body = { url: url.trim(), description: description.trim(), eventTypes }
    try {
      if (webhook) {
        await update.mutateAsync({ id: webhook.id, body })
        notifyDone(say.saved)
        onClose()
      } else {
        setMade((await create.mutateAsync({ body: { ...body, ...(isOfAccount ? { accountId } : {}) } })).reply)
      }
    } catch (error) {
      const blamed = (name: string) =>
        error instanceof PenstockError ? error.details.find(({ field }) => field === name)?.message : undefined
      const ofFields = { url: blamed('body.url'), account: blamed('body.accountId') }
      if (ofFields.url ?? ofFields.account) setErrors(ofFields)
      else setFailure(error)
    }
  }
  if (made) {
    return (
      <WebhookSecret
        secret={made.secret}
        onClose={() => {
          onClose()
          void navigate(`/webhooks/${made.id}`)
        }}
      />
    )
  }
  return (
    <Modal opened onClose={onClose} title={webhook ? say.edit : say.create} size="lg">
      <form onSubmit={(event) => void submit(event)}>
        <Stack>
          <TextInput
            label={say.url}
            description={say.urlHelp}
            placeholder="https://example.com/penstock"
            required
            type="url"
            maxLength={limits.webhookUrlLengthMax}
            data-autofocus
            value={url}
            error={errors.url}
            onChange={({ currentTarget }) => setUrl(currentTarget.value)}
          />
          <TextInput
            label={say.description}
            description={say.descriptionHelp}
            maxLength={limits.webhookDescriptionLengthMax}
            value={description}
            onChange={({ currentTarget }) => setDescription(currentTarget.value)}
          />
          <Radio.Group
            label={say.events}
            value={eventTypes === null ? 'all' : 'chosen'}
            onChange={(choice) => setEventTypes(choice === 'all' ? null : [])}
          >
            <Stack gap="xs" mt={6}>
              <Radio value="all" label={say.allEvents} description={say.allEventsHelp} />
              <Radio value="chosen" label={say.chosen} />
            </Stack>
          </Radio.Group>
          {eventTypes !== null && (
            <MultiSelect
              aria-label={say.eventTypes}
              placeholder={eventTypes.length === 0 ? say.eventTypes : ''}
              searchable
              hidePickedOptions
              data={types}
              value={eventTypes}
              error={errors.events}
              onChange={(next) => setEventTypes(next as EventType[])}
            />
          )}
          {!webhook && (
            <Radio.Group
              label={say.scope}
              value={isOfAccount ? 'one' : 'all'}
              onChange={(choice) => setOfAccount(choice === 'one')}
            >
              <Stack gap="xs" mt={6}>
                <Radio
                  value="all"
                  label={say.organization}
                  disabled={limited}
                  {...(limited ? { description: access.limited } : {})}
                />
                <Radio value="one" label={say.oneAccount} />
                {isOfAccount && <PickAccount value={accountId} error={errors.account} onChange={setAccountId} />}
              </Stack>
            </Radio.Group>
          )}
          {failure !== undefined && <Failure error={failure} />}
          <FormButtons
            busy={create.isPending || update.isPending}
            {...(webhook ? {} : { action: say.create })}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Modal>
  )
}

const shown = 20
const waitMs = 200

function PickAccount({
  value,
  error,
  onChange,
}: {
  value: string | null
  error: string | undefined
  onChange: (id: string | null) => void
}) {
  const [text, setText] = useState('')
  const [q] = useDebouncedValue(text.trim(), waitMs)
  const found = useRead('listAccounts', { query: { q: q || undefined, size: shown } }, { keep: true })
  const [picked, setPicked] = useState<string>()
  const options = new Map(value && picked ? [[value, picked]] : [])
  for (const { id, name } of found.data?.reply ?? []) options.set(id, name)
  return (
    <Select
      aria-label={say.scope}
      placeholder={say.scopePlaceholder}
      searchable
      data={[...options].map(([id, label]) => ({ value: id, label }))}
      // The service has searched already.
      filter={({ options: all }) => all}
      nothingFoundMessage={access.noAccounts}
      value={value}
      error={error}
      onSearchChange={setText}
      onChange={(next) => {
        setPicked(next ? options.get(next) : undefined)
        onChange(next)
      }}
    />
  )
}
