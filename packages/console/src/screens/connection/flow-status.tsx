import type { PipeState, Standing } from '../../components/standing.ts'
import { statusColors } from '../../components/status.tsx'

const wall = 'var(--flow-wall)'
const metal = 'var(--flow-metal)'
const water = 'var(--flow-water)'
const inside = 'var(--flow-inside)'

/** The drawing of a status: a valve in the flow, whose middle is in the middle of 168 pixels. */
export function FlowStatus({ status, pipe }: { status: Standing; pipe: PipeState }) {
  const isOpen = pipe === 'open' || pipe === 'flows'
  const colour = `var(--mantine-color-${statusColors[status]}-${status === 'disabled' || status === 'deleted' ? 6 : 5})`
  return (
    <svg width={96} height={128} viewBox="0 0 96 128" fill="none" aria-hidden focusable="false">
      {/* stem and housing */}
      <rect x={45} y={12} width={6} height={10} fill={wall} />
      <path d="M34 68V28a8 8 0 0 1 8-8h12a8 8 0 0 1 8 8v40" fill={inside} stroke={wall} strokeWidth={3} />
      {/* flow */}
      <rect x={0} y={67} width={96} height={34} fill={inside} />
      {pipe !== 'dashed' && <rect x={0} y={70} width={48} height={28} fill={water} />}
      {isOpen && <rect x={48} y={70} width={48} height={28} fill={water} />}
      {isOpen && <rect x={35.5} y={66} width={25} height={5} fill={water} />}
      <path d="M0 68.5H34M62 68.5H96M0 99.5H96" stroke={wall} strokeWidth={3} />
      {/* blade */}
      <g className="flow-blade" data-open={isOpen || undefined} data-half={pipe === 'waits' || undefined}>
        <rect x={41} y={50} width={14} height={49} rx={2} fill={colour} />
        <path d="M45 57v35M51 57v35" stroke="#fff" strokeOpacity={0.35} strokeWidth={2} />
      </g>
      {/* flanges */}
      <rect x={0} y={60} width={9} height={48} rx={2.5} fill={metal} stroke={wall} strokeWidth={2} />
      <rect x={87} y={60} width={9} height={48} rx={2.5} fill={metal} stroke={wall} strokeWidth={2} />
      {/* wheel */}
      <rect x={20} y={5} width={56} height={9} rx={4.5} fill={colour} />
      <circle cx={48} cy={9.5} r={6.5} fill={metal} stroke={wall} strokeWidth={2} />
      {status === 'broken' && (
        <>
          <path
            d="m63 67 7 9-8 7 9 7-5 11"
            stroke={colour}
            strokeWidth={3}
            strokeLinejoin="round"
            strokeLinecap="round"
          />
          <path d="M66 108c2.6 3.6 4 5.6 4 7.4a4 4 0 0 1-8 0c0-1.8 1.4-3.800 4-7.4Z" fill={water} stroke="none" />
        </>
      )}
      {status === 'offline' && <path d="M66 84h4m4 0h4m4 0h2" stroke={colour} strokeWidth={3} strokeLinecap="round" />}
    </svg>
  )
}
