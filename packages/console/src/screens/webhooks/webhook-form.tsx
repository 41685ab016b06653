import { Radio, Select, Stack, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { type EventType, eventTypeNames, limits, type Webhook } from '@penstock/wire'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { useMe } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { PickSeveral } from '../../components/pick-several.tsx'
import { access } from '../../strings/access.ts'
import { components } from '../../strings/components.ts'
import { webhooks as say } from '../../strings/webhooks.ts'
import { WebhookSecret } from './webhook-secret.tsx'

/** Tests are sent to every webhook, whatever its types. */
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
  const [made, setMade] = useState<{ id: string; secret: string }>()
  const save = async () => {
    const body = { url: url.trim(), description: description.trim(), eventTypes }
    if (webhook) {
      await update.mutateAsync({ id: webhook.id, body })
      return say.saved
    }
    setMade((await create.mutateAsync({ body: { ...body, ...(isOfAccount ? { accountId } : {}) } })).reply)
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
    <FormDialog
      title={webhook ? say.edit : say.create}
      size="lg"
      action={webhook ? components.save : say.create}
      invalid={{
        eventTypes: eventTypes?.length === 0 && say.chooseOne,
        accountId: isOfAccount && accountId === null && !webhook && say.scopePlaceholder,
      }}
      onSubmit={save}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <TextInput
            label={say.url}
            description={say.urlHelp}
            placeholder="https://example.com/penstock"
            required
            type="url"
            maxLength={limits.webhookUrlLengthMax}
            data-autofocus
            value={url}
            error={errorOf('url')}
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
            <PickSeveral
              aria-label={say.eventTypes}
              placeholder={eventTypes.length === 0 ? say.eventTypes : ''}
              searchable
              data={types}
              value={eventTypes}
              error={errorOf('eventTypes')}
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
                {isOfAccount && <PickAccount value={accountId} error={errorOf('accountId')} onChange={setAccountId} />}
              </Stack>
            </Radio.Group>
          )}
        </>
      )}
    </FormDialog>
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
