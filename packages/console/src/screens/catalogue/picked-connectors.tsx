import { Box, Button, Group, Text } from '@mantine/core'
import type { CatalogueEntry } from '@penstock/wire'
import { useForbidden } from '../../api/me.ts'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { SelectionBar } from '../../components/selection-bar.tsx'
import { catalogue as say } from '../../strings/catalogue.ts'

/** The selected connectors, visible everywhere in the catalogue. */
export function PickedConnectors({
  picked,
  busy,
  onAdd,
  onClear,
}: {
  picked: readonly CatalogueEntry[]
  busy: boolean
  onAdd: () => void
  onClear: () => void
}) {
  const forbidden = useForbidden('addConnectors')
  return (
    <SelectionBar label={say.selection} wrap="nowrap">
      <Box miw={0}>
        <Text fw={600} size="sm" role="status">
          {say.selected(picked.length)}
        </Text>
        <Text size="xs" c="dimmed" truncate visibleFrom="sm">
          {picked.map(({ name }) => name).join(', ')}
        </Text>
      </Box>
      <Group gap="xs" wrap="nowrap" style={{ flex: 'none' }}>
        <Button variant="default" onClick={onClear}>
          {say.clearSelection}
        </Button>
        <ReasonedButton reason={forbidden} onClick={onAdd} loading={busy}>
          {say.add(picked.length)}
        </ReasonedButton>
      </Group>
    </SelectionBar>
  )
}
