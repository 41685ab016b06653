import { ActionIcon, Alert, Card, Code, Menu, SimpleGrid, Text } from '@mantine/core'
import type { Webhook } from '@penstock/wire'
import { IconAlertTriangle, IconDots, IconSend } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { useNavigate, useParams } from 'react-router'
import { useForbidden } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { AccountName } from '../../components/account-name.tsx'
import { Confirm } from '../../components/confirm.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { notifyDone, notifyFailure } from '../../components/notify.tsx'
import { Page } from '../../components/page.tsx'
import { ReasonedButton, ReasonedItem } from '../../components/reasoned.tsx'
import { Time } from '../../components/time.tsx'
import { webhooks as say } from '../../strings/webhooks.ts'
import { WebhookForm } from '../webhooks/webhook-form.tsx'
import { EventTypes, WebhookState } from '../webhooks/webhook-state.tsx'
import { Deliveries } from './deliveries.tsx'
import { ReplayEvents } from './replay-events.tsx'
import { RotateSecret } from './rotate-secret.tsx'

const againAfterMs = 5_000

/** One webhook: whether events arrive, and what became of each. */
export function Component() {
  const { webhookId = '' } = useParams()
  const query = useRead('getWebhook', { id: webhookId }, { againAfterMs })
  return query.data ? (
    <Shown webhook={query.data.reply} />
  ) : (
    <Page title={say.title}>
      <Loaded query={query} lines={8}>
        {() => null}
      </Loaded>
    </Page>
  )
}

type Doing = 'edit' | 'rotate' | 'replay' | 'delete'

function Shown({ webhook }: { webhook: Webhook }) {
  const { id, url, description, accountId, eventTypes, lastSuccessTime } = webhook
  const forbidden = useForbidden('testWebhook')
  const test = useWrite('testWebhook')
  const [doing, setDoing] = useState<Doing>()
  const stop = () => setDoing(undefined)
  const send = () => test.mutate({ id }, { onSuccess: () => notifyDone(say.tested), onError: notifyFailure })
  const actions = (
    <>
      <ReasonedButton
        leftSection={<IconSend size={18} aria-hidden />}
        reason={forbidden}
        loading={test.isPending}
        onClick={send}
      >
        {say.test}
      </ReasonedButton>
      <Actions webhook={webhook} onDo={setDoing} />
    </>
  )
  return (
    <Page title={url} help={description} actions={actions}>
      <State webhook={webhook} />
      <Card withBorder>
        <SimpleGrid cols={{ base: 2, lg: 4 }} spacing="lg">
          <Fact name={say.state}>
            <WebhookState webhook={webhook} />
          </Fact>
          <Fact name={say.events}>
            <EventTypes types={eventTypes} />
          </Fact>
          <Fact name={say.scope}>{accountId ? <AccountName accountId={accountId} /> : say.organization}</Fact>
          <Fact name={say.lastSuccess}>
            <Time seconds={lastSuccessTime} />
          </Fact>
        </SimpleGrid>
      </Card>
      <Deliveries webhookId={id} />
      {doing === 'edit' && <WebhookForm webhook={webhook} onClose={stop} />}
      {doing === 'rotate' && <RotateSecret webhookId={id} onClose={stop} />}
      {doing === 'replay' && <ReplayEvents webhookId={id} onClose={stop} />}
      {doing === 'delete' && <Delete webhook={webhook} onClose={stop} />}
    </Page>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div style={{ overflowWrap: 'anywhere' }}>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
      <Text component="div" size="sm" mt={2}>
        {children}
      </Text>
    </div>
  )
}

/** Why no events arrive, or what else is to be known. */
function State({
  webhook: { enabled, disabledReason, failingSince, previousSecretExpiresTime },
}: {
  webhook: Webhook
}) {
  const style = { message: { color: 'var(--mantine-color-text)' } }
  if (!enabled && disabledReason) {
    return (
      <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={say.disabledTitle} styles={style}>
        {say.disabledReason[disabledReason]}
      </Alert>
    )
  }
  if (enabled && failingSince !== null) {
    return (
      <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} title={say.failingTitle} styles={style}>
        {say.failingHelp} <Time seconds={failingSince} />.
      </Alert>
    )
  }
  if (previousSecretExpiresTime === null) return null
  return (
    <Text size="sm" c="dimmed">
      {say.previousSecret} <Time seconds={previousSecretExpiresTime} planned />.
    </Text>
  )
}

function Actions({ webhook: { id, enabled }, onDo }: { webhook: Webhook; onDo: (doing: Doing) => void }) {
  const forbidden = useForbidden('updateWebhook')
  const update = useWrite('updateWebhook')
  const toggle = () =>
    update.mutate(
      { id, body: { enabled: !enabled } },
      { onSuccess: () => notifyDone(enabled ? say.nowDisabled : say.nowEnabled), onError: notifyFailure },
    )
  const items = [
    ['edit', say.edit],
    ['replay', say.replay],
    ['rotate', say.rotate],
  ] as const
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="default" size={36} aria-label={say.actions}>
          <IconDots size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {items.map(([what, label]) => (
          <ReasonedItem key={what} reason={forbidden} onClick={() => onDo(what)}>
            {label}
          </ReasonedItem>
        ))}
        <ReasonedItem reason={forbidden} onClick={toggle}>
          {enabled ? say.disable : say.enable}
        </ReasonedItem>
        <Menu.Divider />
        <ReasonedItem reason={forbidden} destructive onClick={() => onDo('delete')}>
          {say.remove}
        </ReasonedItem>
      </Menu.Dropdown>
    </Menu>
  )
}

function Delete({ webhook: { id, url }, onClose }: { webhook: Webhook; onClose: () => void }) {
  const navigate = useNavigate()
  const remove = useWrite('deleteWebhook')
  const confirm = async () => {
    // Before it is gone from this page: reading it again would fail.
    await remove.mutateAsync({ id })
    notifyDone(say.removed)
    void navigate('/webhooks')
  }
  return (
    <Confirm title={say.removeTitle} action={say.remove} onConfirm={confirm} onClose={onClose}>
      <Code>{url}</Code>
      <br />
      {say.removeHelp}
    </Confirm>
  )
}
