import { Alert, Card, Code, SimpleGrid, Text } from '@mantine/core'
import type { Webhook } from '@penstock/wire'
import { IconAlertTriangle, IconSend } from '@tabler/icons-react'
import { useNavigate, useParams } from 'react-router'
import { useForbidden } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { AccountName } from '../../components/account-name.tsx'
import { Confirm } from '../../components/confirm.tsx'
import { type OpenDialog, useDialog } from '../../components/form-dialog.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { notifyDone, notifyOutcome } from '../../components/notify.ts'
import { Page } from '../../components/page.tsx'
import { ActionsMenu, ReasonedButton } from '../../components/reasoned.tsx'
import { Fact } from '../../components/section.tsx'
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

function Shown({ webhook }: { webhook: Webhook }) {
  const { id, url, description, accountId, eventTypes, lastSuccessTime } = webhook
  const forbidden = useForbidden('testWebhook')
  const test = useWrite('testWebhook')
  const [dialog, open] = useDialog()
  const send = () => void notifyOutcome(test.mutateAsync({ id }), say.tested)
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
      <Actions webhook={webhook} open={open} />
    </>
  )
  return (
    <Page title={url} help={description} actions={actions}>
      <State webhook={webhook} />
      <Card withBorder>
        <SimpleGrid cols={{ base: 2, lg: 4 }} spacing="lg">
          <Fact label={say.state}>
            <WebhookState webhook={webhook} />
          </Fact>
          <Fact label={say.events}>
            <EventTypes types={eventTypes} />
          </Fact>
          <Fact label={say.scope}>{accountId ? <AccountName accountId={accountId} /> : say.organization}</Fact>
          <Fact label={say.lastSuccess}>
            <Time seconds={lastSuccessTime} />
          </Fact>
        </SimpleGrid>
      </Card>
      <Deliveries webhookId={id} />
      {dialog}
    </Page>
  )
}

/** Why no events arrive, or what else is to be known. */
function State({
  webhook: { enabled, disabledReason, failingSince, previousSecretExpiresTime },
}: {
  webhook: Webhook
}) {
  if (!enabled && disabledReason) {
    return (
      <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={say.disabledTitle}>
        {say.disabledReason[disabledReason]}
      </Alert>
    )
  }
  if (enabled && failingSince !== null) {
    return (
      <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} title={say.failingTitle}>
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

function Actions({ webhook, open }: { webhook: Webhook; open: OpenDialog }) {
  const { id, enabled } = webhook
  const reason = useForbidden('updateWebhook')
  const update = useWrite('updateWebhook')
  const toggle = () =>
    void notifyOutcome(
      update.mutateAsync({ id, body: { enabled: !enabled } }),
      enabled ? say.nowDisabled : say.nowEnabled,
    )
  const edit = () => open((close) => <WebhookForm webhook={webhook} onClose={close} />)
  const replay = () => open((close) => <ReplayEvents webhookId={id} onClose={close} />)
  const rotate = () => open((close) => <RotateSecret webhookId={id} onClose={close} />)
  const remove = () => open((close) => <Delete webhook={webhook} onClose={close} />)
  return (
    <ActionsMenu
      page
      label={say.actions}
      groups={[
        [
          { label: say.edit, reason, onClick: edit },
          { label: say.replay, reason, onClick: replay },
          { label: say.rotate, reason, onClick: rotate },
          { label: enabled ? say.disable : say.enable, reason, onClick: toggle },
        ],
        [{ label: say.remove, reason, destructive: true, onClick: remove }],
      ]}
    />
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
