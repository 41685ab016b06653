import { Badge, Box, Card, Checkbox, Group, SimpleGrid, Stack, Text, ThemeIcon } from '@mantine/core'
import type { CatalogueEntry } from '@penstock/wire'
import { IconArrowsExchange, IconCheck } from '@tabler/icons-react'
import { memo, type ReactNode, useId } from 'react'
import { Link } from 'react-router'
import { Logo, logoOfPlatform } from '../../components/connector-name.tsx'
import { pathOf } from '../../shell/account.ts'
import { catalogue as say } from '../../strings/catalogue.ts'
import { components } from '../../strings/components.ts'
import classes from './tile.module.css'

export function Tiles({ label, busy = false, children }: { label: string; busy?: boolean; children: ReactNode }) {
  return (
    <SimpleGrid
      cols={{ base: 1, xs: 2, md: 3, xl: 4 }}
      spacing="md"
      role="list"
      aria-label={label}
      aria-busy={busy || undefined}
    >
      {children}
    </SimpleGrid>
  )
}

/**
 * A connector of the catalogue: a box to tick while it is not added, a link to its configuration once it is. Rendered
 * again only if it changes, since there are many of them.
 */
export const Tile = memo(function Tile({
  entry,
  accountId,
  added,
  picked,
  onToggle,
}: {
  entry: CatalogueEntry
  accountId: string
  added: boolean
  picked: boolean
  onToggle: (entry: CatalogueEntry) => void
}) {
  const id = useId()
  return (
    <Box role="listitem" className={classes.place}>
      {added ? (
        <Card
          component={Link}
          to={`${pathOf(accountId, 'connectors')}?configure=${entry.connectorId}`}
          withBorder
          padding="md"
          className={classes.tile}
        >
          <Content id={id} entry={entry} added>
            <ThemeIcon size={20} radius="sm" color="teal" aria-hidden>
              <IconCheck size={14} />
            </ThemeIcon>
          </Content>
        </Card>
      ) : (
        <Checkbox.Card
          checked={picked}
          onClick={() => onToggle(entry)}
          withBorder
          p="md"
          radius="md"
          className={classes.tile}
          data-picked={picked || undefined}
          aria-labelledby={`${id}-name`}
          aria-describedby={`${id}-about`}
        >
          <Content id={id} entry={entry}>
            <Checkbox.Indicator />
          </Content>
        </Checkbox.Card>
      )}
    </Box>
  )
})

function Content({
  id,
  entry,
  added = false,
  children,
}: {
  id: string
  entry: CatalogueEntry
  added?: boolean
  children: ReactNode
}) {
  const { platformId, name, supportedType, dataType, dataTypeCategory, platformType, transfer } = entry
  const kinds = [...new Set([dataTypeCategory, dataType].map(components.term))]
  return (
    <Stack gap="sm" h="100%">
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <Logo src={logoOfPlatform(platformId)} size={36} />
        <Text id={`${id}-name`} fw={600} size="sm" lh={1.35} lineClamp={3} mih={36} flex={1}>
          {name}
        </Text>
        {children}
      </Group>
      <Stack gap="sm" id={`${id}-about`} justify="space-between" flex={1}>
        <Box c="dimmed" fz="xs" lh={1.4}>
          <Text inherit>{kinds.join(' · ')}</Text>
          <Text inherit>{platformType}</Text>
        </Box>
        <Group gap={6}>
          {supportedType.split(', ').map((role) => (
            <Badge key={role} variant="default" size="sm" fw={500}>
              {role}
            </Badge>
          ))}
          {transfer && (
            <Badge variant="light" size="sm" fw={500} leftSection={<IconArrowsExchange size={12} aria-hidden />}>
              {say.movesData}
            </Badge>
          )}
          {added && (
            <Badge variant="light" color="teal" size="sm" fw={500}>
              {say.isAdded}
            </Badge>
          )}
        </Group>
      </Stack>
    </Stack>
  )
}
