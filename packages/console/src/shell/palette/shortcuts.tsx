import { Group, Kbd, Modal, Stack, Text, Title } from '@mantine/core'
import { palette } from '../../strings/palette.ts'
import { modifier } from '../hot-keys.ts'

const say = palette.keys
const everywhere: readonly (readonly [keys: readonly string[], does: string])[] = [
  [[modifier, 'K'], say.palette],
  [['/'], say.search],
  [['?'], say.keys],
  [['G', 'O'], say.overview],
  [['G', 'C'], say.connections],
  [['G', 'A'], say.alerts],
  [['G', 'R'], say.reports],
  [['Esc'], say.close],
]

/** The keys that work on every page. */
export function Shortcuts({ onClose }: { onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title={say.title} size="sm">
      <Title order={3} size="h6" mb="xs">
        {say.everywhere}
      </Title>
      <Stack gap="xs">
        {everywhere.map(([keys, does]) => (
          <Group key={does} justify="space-between" wrap="nowrap">
            <Text size="sm">{does}</Text>
            <Group gap={4} wrap="nowrap">
              {keys.map((key, at) => (
                <Group key={key} gap={4} wrap="nowrap">
                  {at > 0 && keys[0] === 'G' && (
                    <Text span size="xs" c="dimmed">
                      {say.followedBy}
                    </Text>
                  )}
                  <Kbd size="xs">{key}</Kbd>
                </Group>
              ))}
            </Group>
          </Group>
        ))}
      </Stack>
    </Modal>
  )
}
