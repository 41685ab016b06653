import { Box, Button, Group, Modal, Stack, Text, ThemeIcon, Timeline } from '@mantine/core'
import type { CheckResult } from '@penstock/wire'
import { IconCheck, IconPlugConnected, IconPlugConnectedX, IconX } from '@tabler/icons-react'
import { useCallback, useEffect } from 'react'
import { useForbidden } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { Failure } from '../../components/failure.tsx'
import { Lines } from '../../components/loaded.tsx'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { Time } from '../../components/time.tsx'
import { components } from '../../strings/components.ts'
import { connectors as say } from '../../strings/connectors.ts'
import { forgetCheck, keepCheck } from './kept-checks.ts'
import { type ConnectorOfAccount, parametersOf, useConfigurations } from './of-account.ts'

/** Checks a connector against its platform as soon as it is opened, and says how each step went. */
export function CheckConnector({
  accountId,
  connectorId,
  configurationId,
  onClose,
  onConfigure,
}: ConnectorOfAccount & {
  onClose: () => void
  onConfigure: () => void
}) {
  const connector = useRead('getConnector', { accountId, id: connectorId })
  const { mutateAsync, data, error, isPending } = useWrite('checkConnector')
  const check = useCallback(() => {
    const of = { accountId, connectorId, configurationId }
    void mutateAsync(parametersOf(of)).then(
      ({ reply }) => keepCheck(of, reply),
      () => {}, // It is shown as `error`.
    )
  }, [mutateAsync, accountId, connectorId, configurationId])
  useEffect(check, [check])
  const configuration = useConfigurations(accountId, connectorId, { enabled: configurationId !== undefined })?.find(
    (one) => one.configurationId === configurationId,
  )
  const name = connector.data && say.named(connector.data.reply.name, configuration?.name)
  return (
    <Modal opened onClose={onClose} size="lg" title={name ? say.checkTitle(name) : say.check}>
      <Stack aria-live="polite" aria-busy={isPending}>
        {error ? (
          <Failure error={error} />
        ) : data && !isPending ? (
          <Result result={data.reply} of={{ accountId, connectorId, configurationId }} onTrusted={check} />
        ) : (
          <>
            <Text size="sm" c="dimmed">
              {say.checking}
            </Text>
            <Lines lines={3} />
          </>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onConfigure}>
            {say.configure}
          </Button>
          <Button variant="light" loading={isPending} onClick={check}>
            {say.checkAgain}
          </Button>
          <Button onClick={onClose}>{components.close}</Button>
        </Group>
      </Stack>
    </Modal>
  )
}

function Result({
  result: { ok, message, checks, checkedTime },
  of,
  onTrusted,
}: {
  result: CheckResult
  of: ConnectorOfAccount
  onTrusted: () => void
}) {
  return (
    <>
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <ThemeIcon size={40} radius="xl" variant="light" color={ok ? 'teal' : 'red'} aria-hidden>
          {ok ? <IconPlugConnected size={22} /> : <IconPlugConnectedX size={22} />}
        </ThemeIcon>
        <Box miw={0}>
          <Text fw={650}>{ok ? say.checkOk : say.checkFailed}</Text>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {message}
          </Text>
          <Text size="xs" c="dimmed" mt={2}>
            {say.checked} <Time seconds={checkedTime} />
          </Text>
        </Box>
      </Group>
      <Timeline bulletSize={24} lineWidth={2} aria-label={say.steps} role="list">
        {checks.map((step) => (
          <Timeline.Item
            key={step.name}
            role="listitem"
            bullet={
              <ThemeIcon size={24} radius="xl" color={step.ok ? 'teal' : 'red'} aria-hidden>
                {step.ok ? <IconCheck size={14} /> : <IconX size={14} />}
              </ThemeIcon>
            }
            title={
              <Text span fw={600} fz="sm">
                {say.step(step.name, step.ok)}
              </Text>
            }
          >
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {step.message}
            </Text>
            {step.suggestion && <TrustKey {...of} suggestion={step.suggestion} onTrusted={onTrusted} />}
          </Timeline.Item>
        ))}
      </Timeline>
    </>
  )
}

/** Saves the key that a server showed, once a person says that it is correct. */
function TrustKey({
  suggestion: { field, value },
  onTrusted,
  ...of
}: ConnectorOfAccount & {
  suggestion: NonNullable<CheckResult['checks'][number]['suggestion']>
  onTrusted: () => void
}) {
  const { mutateAsync, error, isPending } = useWrite('configureConnector')
  const forbidden = useForbidden('configureConnector')
  const { accountId, connectorId, configurationId } = of
  const trust = async () => {
    const body = { secretConfig: { [field]: value }, ...(configurationId === undefined ? {} : { configurationId }) }
    await mutateAsync({ accountId, id: connectorId, body })
    forgetCheck(of)
    onTrusted()
  }
  return (
    <Stack gap="xs" align="flex-start" mt="xs">
      <ReasonedButton
        size="compact-sm"
        variant="light"
        loading={isPending}
        reason={forbidden}
        onClick={() => void trust().catch(() => {})} // It is shown as `error`.
      >
        {say.trustKey}
      </ReasonedButton>
      {error && <Failure error={error} />}
    </Stack>
  )
}
