import { Alert, Button, Group, Text } from '@mantine/core'
import { connectionSet as say } from '../../../strings/connection-set.ts'
import { useWizard } from '../wizard.ts'
import { pendingTarget, writeTargets } from './targets.ts'

/** After a connection of a set was not created: the connections before it stay, and the set can go on without it. @param name of its destination */
export function GoOnWithout({ name }: { name: string }) {
  const { targets, set, go } = useWizard()
  const made = targets.filter(({ connectionId }) => connectionId !== undefined)
  if (set === '') return null
  const leave = () => {
    const pending = pendingTarget(targets)
    const rest = targets.filter((target) => target !== pending)
    const [next, last] = [pendingTarget(rest), made.at(-1)]
    const picks = { targets: writeTargets(rest) }
    if (next) go('settings', { ...picks, destination: next.connectorId })
    else if (last) go('review', { ...picks, connection: last.connectionId ?? '', destination: last.connectorId })
    else go('destination', { ...picks, set: '' })
  }
  return (
    <Alert variant="default" role="status">
      <Group justify="space-between" gap="sm">
        <Text size="sm">{made.length > 0 && say.left(made.length)}</Text>
        <Button size="compact-sm" variant="default" onClick={leave}>
          {say.leave(name)}
        </Button>
      </Group>
    </Alert>
  )
}
