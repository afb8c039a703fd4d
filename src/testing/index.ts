export { StoreContractError } from './contract/check.js';
export { FakeClock } from './fake-clock.js';
export { type StoreContractCase, storeContract } from './store-contract.js';
