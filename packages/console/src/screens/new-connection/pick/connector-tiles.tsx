import { Badge, Group, Loader, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import type { CatalogueEntry } from '@penstock/wire'
import { IconCheck } from '@tabler/icons-react'
import { Logo, logoOfPlatform } from '../../../components/connector-name.tsx'
import { count } from '../../../components/numbers.ts'
import { ConfigurationBadge } from '../../../components/status.tsx'
import { newConnection as say } from '../../../strings/new-connection.ts'
import { useStandings } from '../../connectors/use-standing.ts'
import classes from './tile.module.css'

/** Content of a tile: an entry of the catalogue, and the state of the connector in the sub-account. */
export type Tile = CatalogueEntry & {
  readonly accountId: string
  /** The kind of the platform as people call it, such as a database. */
  readonly kindName: string
  readonly added: boolean
  readonly configured: boolean
  /** Undefined: the first configuration. */
  readonly configurationId?: string
  /** Undefined if nobody named the configuration. */
  readonly configurationName?: string
}

/** The name of a tile: the name of its configuration, if somebody named it. */
export const titleOf = ({ configurationName, name }: Tile): string => configurationName ?? name

/** Connectors of one kind under a title, each a button that picks it. */
export function Tiles({
  title,
  tiles,
  isPicked,
  busy,
  onPick,
}: {
  title: string
  tiles: readonly Tile[]
  isPicked: (tile: Tile) => boolean
  /** Is being added. */
  busy: string | undefined
  onPick: (tile: Tile) => void
}) {
  if (tiles.length === 0) return null
  return (
    <Stack gap="sm" component="section" aria-label={title}>
      <Group gap="xs">
        <Title order={2} size="h5">
          {title}
        </Title>
        <Text size="sm" c="dimmed">
          {count(tiles.length)}
        </Text>
      </Group>
      <SimpleGrid cols={{ base: 1, xs: 2, lg: 3, xl: 4 }} spacing="sm">
        {tiles.map((tile) => (
          <Paper
            key={`${tile.connectorId} ${tile.configurationId ?? ''}`}
            component="button"
            type="button"
            withBorder
            p="sm"
            className={classes.tile}
            onClick={() => onPick(tile)}
            disabled={busy !== undefined}
            aria-pressed={isPicked(tile)}
          >
            <Face tile={tile} picked={isPicked(tile)} busy={tile.connectorId === busy} />
          </Paper>
        ))}
      </SimpleGrid>
    </Stack>
  )
}

function Face({ tile, picked, busy }: { tile: Tile; picked: boolean; busy: boolean }) {
  return (
    <Group wrap="nowrap" align="flex-start" gap="sm">
      <Logo src={logoOfPlatform(tile.platformId)} size={32} />
      <Stack gap={2} miw={0} style={{ flex: 1 }}>
        <Text fw={550} size="sm" style={{ overflowWrap: 'anywhere' }}>
          {titleOf(tile)}
        </Text>
        <Text size="xs" c="dimmed">
          {tile.configurationName === undefined
            ? say.kind(tile.dataTypeCategory, tile.kindName)
            : say.brandAndKind(tile.name, tile.dataTypeCategory)}
        </Text>
        <Group gap={6} mt={4}>
          {tile.added && <Standing tile={tile} />}
          {!tile.transfer && (
            <Badge size="sm" variant="default" fw={500}>
              {say.movesNothing}
            </Badge>
          )}
        </Group>
      </Stack>
      {busy ? <Loader size={18} /> : picked && <IconCheck size={18} aria-hidden />}
    </Group>
  )
}

/** Whether the configuration is known to work. */
function Standing({ tile }: { tile: Tile }) {
  const { standing, why } = useStandings(tile.accountId)(tile)
  return <ConfigurationBadge standing={standing} why={why} />
}

/** Connectors that cannot be picked, each with the reasons. */
export function Incompatible({
  entries,
}: {
  entries: readonly { entry: CatalogueEntry; reasons: readonly string[] }[]
}) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, lg: 3, xl: 4 }} spacing="sm" component="ul" p={0} m={0}>
      {entries.map(({ entry, reasons }) => (
        <Paper key={entry.connectorId} component="li" withBorder p="sm" bg="transparent" style={{ listStyle: 'none' }}>
          <Group wrap="nowrap" align="flex-start" gap="sm">
            <Logo src={logoOfPlatform(entry.platformId)} size={24} />
            <Stack gap={2} miw={0}>
              <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                {entry.name}
              </Text>
              {reasons.map((reason) => (
                <Text key={reason} size="xs" c="dimmed">
                  {reason}
                </Text>
              ))}
            </Stack>
          </Group>
        </Paper>
      ))}
    </SimpleGrid>
  )
}
