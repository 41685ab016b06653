import { Badge, Card, Group, Stack, Text, UnstyledButton } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { connectionSet as say } from '../../../strings/connection-set.ts'
import { useWizard } from '../wizard.ts'
import classes from './set.module.css'
import { pendingTarget, type Target } from './targets.ts'
import { useTargetNames } from './use-target-names.ts'

/** Where a set is: every destination with its state. A created connection can be opened again. */
export function SetProgress() {
  const { targets, set, connectionId, step, go } = useWizard()
  const nameOf = useTargetNames()
  if (set === '' || targets.length < 2 || step === 'source' || step === 'destination' || step === 'review') return null
  const pending = pendingTarget(targets)
  const isCurrent = (target: Target) =>
    connectionId === '' ? target === pending : target.connectionId === connectionId
  const current = targets.findIndex(isCurrent)
  return (
    <Card withBorder padding="sm" component="nav" aria-label={say.destinations}>
      <Stack gap={6}>
        <Text size="sm" fw={600} role="status">
          {say.progress(current + 1, targets.length, nameOf(targets[current] ?? { connectorId: '' }))}
        </Text>
        <Group gap="xs" component="ol" p={0} m={0} className={classes.targets ?? ''}>
          {targets.map((target) => {
            const name = nameOf(target)
            const { connectionId: made = '' } = target
            const isNow = isCurrent(target)
            const badge = (
              <Badge
                variant={isNow ? 'light' : 'default'}
                size="lg"
                tt="none"
                fw={500}
                leftSection={made && <IconCheck size={14} aria-hidden />}
              >
                {name} · {say.state[isNow ? 'now' : made ? 'done' : 'waits']}
              </Badge>
            )
            return (
              <li
                key={`${target.connectorId} ${target.configurationId ?? ''}`}
                aria-current={isNow ? 'step' : undefined}
              >
                {made === '' || isNow ? (
                  badge
                ) : (
                  <UnstyledButton onClick={() => go('settings', { connection: made, destination: target.connectorId })}>
                    {badge}
                  </UnstyledButton>
                )}
              </li>
            )
          })}
        </Group>
      </Stack>
    </Card>
  )
}
