/** Slots of a cluster. */
export const SLOTS = 16_384;

/** CRC16 of the XMODEM kind, as the specification of Redis Cluster asks: polynomial 0x1021. */
const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ ((crc & 0x8000) === 0 ? 0 : 0x1021);
  return crc & 0xffff;
});

/** The slot of a key: that of its tag, what stands between the first braces, if it has one. */
export function slotOf(key: string): number {
  const open = key.indexOf('{');
  const close = open < 0 ? -1 : key.indexOf('}', open + 1);
  const hashed = close > open + 1 ? key.slice(open + 1, close) : key;
  let crc = 0;
  for (const byte of Buffer.from(hashed)) crc = (TABLE[(crc >> 8) ^ byte]! ^ (crc << 8)) & 0xffff;
  return crc & (SLOTS - 1);
}
